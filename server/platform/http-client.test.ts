import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { DriverFailure } from './errors.ts'
import { callHttp, jsonOf } from './http-client.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** A peer of ours on a free loopback port. */
async function peer(
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request
      .on('data', (chunk: Buffer) => (body += chunk.toString()))
      .on('end', () => answer(request, body, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
async function closedPort(): Promise<string> {
  const url = await peer(() => undefined)
  for (const close of closers.splice(0)) await close()
  return url
}
async function failure(work: Promise<unknown>): Promise<DriverFailure> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(outcome).toBeInstanceOf(DriverFailure)
  return outcome as DriverFailure
}

describe('callHttp', () => {
  it('sends JSON and forms and reads the answer', async () => {
    const url = await peer((request, body, response) =>
      response.end(JSON.stringify({ type: request.headers['content-type'], body })),
    )
    const json = await callHttp({ peer: 'bank', method: 'POST', url, json: { name: 'Nguyễn' } })
    expect(jsonOf(json, 'bank')).toEqual({
      type: 'application/json; charset=utf-8',
      body: '{"name":"Nguyễn"}',
    })
    const form = await callHttp({ peer: 'bank', method: 'POST', url, form: { a: 'b c', d: '&' } })
    expect(jsonOf(form, 'bank')).toMatchObject({ body: 'a=b+c&d=%26' })
  })

  it('is unavailable when nobody listens: nothing was sent', async () => {
    const url = await closedPort()
    expect((await failure(callHttp({ peer: 'bank', method: 'POST', url, json: {} }))).kind).toBe(
      'unavailable',
    )
    expect((await failure(callHttp({ peer: 'bank', method: 'GET', url }))).kind).toBe('unavailable')
  })

  it("is unclear when a POST's answer is lost, unavailable when it may be repeated", async () => {
    const silent = await peer(() => undefined)
    const cutting = await peer((request) => request.socket.destroy())
    for (const url of [silent, cutting]) {
      const call = { peer: 'bank', url, timeoutMs: 80 } as const
      expect((await failure(callHttp({ ...call, method: 'POST', json: {} }))).kind).toBe('unclear')
      expect(
        (await failure(callHttp({ ...call, method: 'POST', json: {}, repeatable: true }))).kind,
      ).toBe('unavailable')
      expect((await failure(callHttp({ ...call, method: 'GET' }))).kind).toBe('unavailable')
    }
  })

  it('times out also when the answer begins and never ends', async () => {
    const url = await peer((_request, _body, response) => response.write('{'))
    expect(
      (await failure(callHttp({ peer: 'bank', method: 'POST', url, json: {}, timeoutMs: 80 })))
        .kind,
    ).toBe('unclear')
  })

  it.each([
    [500, 'unavailable'],
    [503, 'unavailable'],
    [400, 'rejected'],
    [404, 'rejected'],
    [302, 'rejected'],
    [429, 'unavailable'],
  ] as const)('reads status %i as %s', async (status, kind) => {
    const url = await peer((_request, _body, response) =>
      response.writeHead(status, { location: '/other' }).end('{}'),
    )
    expect((await failure(callHttp({ peer: 'bank', method: 'POST', url, json: {} }))).kind).toBe(
      kind,
    )
    const accepted = await callHttp({
      peer: 'bank',
      method: 'POST',
      url,
      json: {},
      accept: [status],
    })
    expect(accepted.status).toBe(status)
  })

  it('lets a caller that moves money call a 5xx unclear', async () => {
    const url = await peer((_request, _body, response) => response.writeHead(502).end())
    expect(
      (
        await failure(
          callHttp({ peer: 'bank', method: 'POST', url, json: {}, serverError: 'unclear' }),
        )
      ).kind,
    ).toBe('unclear')
  })

  it('refuses an endless answer and a body that is not JSON', async () => {
    const long = await peer((_request, _body, response) => response.end('x'.repeat(2000)))
    expect(
      (await failure(callHttp({ peer: 'bank', method: 'GET', url: long, maxBytes: 1000 }))).kind,
    ).toBe('unavailable')
    const answer = await callHttp({ peer: 'bank', method: 'GET', url: long })
    expect(() => jsonOf(answer, 'bank')).toThrow(DriverFailure)
  })

  it('never tells an address, a body or a secret', async () => {
    const url = `${await closedPort()}?key=hunter2`
    const error = await failure(
      callHttp({
        peer: 'bank',
        method: 'POST',
        url,
        json: { secret: 'hunter2' },
        headers: { authorization: 'hunter2' },
      }),
    )
    expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toContain('hunter2')
  })
})
