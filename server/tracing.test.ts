/** Traces of a portal at work, as a collector receives them. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestPortal } from '../test/portal.ts'
import { callHttp } from './platform/http-client.ts'
import { createLog } from './platform/log.ts'
import { createOtlpTracer } from './platform/otlp.ts'
import { startSpan } from './platform/spans.ts'

interface Received {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Record<string, unknown> }[]
  status?: { code: number; message: string }
}
interface Export {
  resourceSpans: {
    resource: { attributes: { key: string; value: object }[] }
    scopeSpans: { spans: Received[] }[]
  }[]
}

async function listening(answer: http.RequestListener) {
  const server = http.createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A stand-in for a collector: OTLP over HTTP, in JSON. */
async function openCollector() {
  const spans: Received[] = []
  const calls: { url: string; type: string; token: string; resource: object }[] = []
  let status = 200
  const server = await listening((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (status === 200) {
        const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as Export
        for (const { resource, scopeSpans } of resourceSpans) {
          calls.push({
            url: request.url ?? '',
            type: request.headers['content-type'] ?? '',
            token: String(request.headers['x-token']),
            resource,
          })
          spans.push(...scopeSpans.flatMap((scope) => scope.spans))
        }
      }
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    })
  })
  return {
    ...server,
    spans,
    calls,
    answerWith: (next: number) => {
      status = next
    },
  }
}

const valueOf = ({ attributes }: Received, key: string): unknown =>
  Object.values(attributes.find((one) => one.key === key)?.value ?? {})[0]

let collector: Awaited<ReturnType<typeof openCollector>>
let portal: TestPortal
const lines: string[] = []
beforeAll(async () => {
  collector = await openCollector()
  portal = await openTestPortal({
    logLines: (line) => lines.push(line),
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-token=a%20b',
    },
  })
}, 60_000)
afterAll(async () => {
  await portal.close()
  await collector.close()
})

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
/** Spans are sent every two seconds. */
const received = (what: string, find: (span: Received) => boolean) =>
  eventually(what, async () => collector.spans.find(find), 20)

test('a call is a span of its caller’s trace, with its gateway call and transactions', async () => {
  const an = await portal.customer()
  const begun = await portal.call<{ transactionCode: string }>('POST', '/api/payments/checkout', {
    token: an.token,
    body: { amount: 100_000, type: 2, method: null },
    headers: { traceparent: `00-${traceId}-${spanId}-01`, 'idempotency-key': 'traced' },
  })
  expect(begun.status).toBe(200)
  const call = await received('the call', (one) => one.traceId === traceId && one.kind === 2)
  expect(call).toMatchObject({ name: 'POST /api/payments/checkout', parentSpanId: spanId })
  expect(valueOf(call, 'http.response.status_code')).toBe('200')
  expect(valueOf(call, 'http.route')).toBe('/api/payments/checkout')
  expect(call.status).toBeUndefined()
  const own = collector.spans.filter((one) => one.traceId === traceId)
  const gateway = own.find(({ name }) => name === 'POST alepay')
  expect(gateway).toMatchObject({ kind: 3, parentSpanId: call.spanId })
  expect(valueOf(gateway!, 'http.response.status_code')).toBe('200')
  const transactions = own.filter(({ name }) => name === 'transaction')
  expect(transactions.length).toBeGreaterThan(0)
  for (const one of own) {
    expect(BigInt(one.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(one.startTimeUnixNano))
    expect(Number(BigInt(one.startTimeUnixNano) / 1_000_000n)).toBeGreaterThan(Date.now() - 60_000)
  }
  expect(collector.calls[0]).toMatchObject({
    url: '/v1/traces',
    type: 'application/json',
    token: 'a b',
  })
  expect(JSON.stringify(collector.calls[0]?.resource)).toContain('"cloud-portal"')
  // The log's line leads to the trace.
  const line = lines.find((one) => one.includes(traceId))
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    route: '/api/payments/checkout',
    method: 'POST',
    status: 200,
    trace: traceId,
    customer: an.id,
    network: '127.0.0.1',
    reqId: expect.any(String) as string,
    ms: expect.any(Number) as number,
  })
  // No customer data: no text, address or amount. Times and ids may contain any digits.
  const said = JSON.stringify(own, (key, value: unknown) =>
    /Nano$|Id$/.test(key) ? undefined : value,
  )
  expect(said).not.toMatch(/100000|127\.0\.0\.1|@/)
})

test('a job is a span, and its line names job, id and attempt', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 100_000)
  const job = await received('the job', ({ name }) => name.startsWith('job pay-open'))
  expect(job.kind).toBe(5)
  expect(job.parentSpanId).toBeUndefined()
  expect([valueOf(job, 'job'), valueOf(job, 'attempt')]).toEqual([job.name.slice(4), '1'])
  const id = valueOf(job, 'id')
  const line = lines.find((one) => one.includes('"job done"') && one.includes(String(id)))
  expect(JSON.parse(line ?? '{}')).toMatchObject({ job: job.name.slice(4), id, attempt: 1 })
})

test('a caller that does not trace is not traced, and one with nonsense begins anew', async () => {
  const quiet = 'a'.repeat(32)
  await portal.call('GET', '/api/config', {
    headers: { traceparent: `00-${quiet}-${spanId}-00` },
  })
  for (const traceparent of [
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `ff-${'b'.repeat(32)}-${spanId}-01`,
    'x'.repeat(5000),
  ])
    await portal.call('GET', '/api/config', { headers: { traceparent } })
  await eventually('the other three', async () => {
    const all = collector.spans.filter(({ name }) => name === 'GET /api/config')
    return all.length >= 3
  })
  const all = collector.spans.filter(({ name }) => name === 'GET /api/config')
  expect(all).toHaveLength(3)
  for (const one of all) {
    expect(one.parentSpanId).toBeUndefined()
    expect(one.traceId).not.toMatch(/^0+$|^b+$/)
  }
  expect(collector.spans.some((one) => one.traceId === quiet)).toBe(false)
})

test('while the collector is away the portal works, and what it kept is sent later', async () => {
  collector.answerWith(503)
  const kept = 'c'.repeat(32)
  const answer = await portal.call('GET', '/api/config', {
    headers: { traceparent: `00-${kept}-${spanId}-01` },
  })
  expect(answer.status).toBe(200)
  await eventually('the refusal', async () =>
    lines.some((line) => line.includes('traces are not taken')),
  )
  collector.answerWith(200)
  await received('the span', (one) => one.traceId === kept)
})

test('the trace is passed on, also where it is not sent', async () => {
  const seen: (string | undefined)[] = []
  const peer = await listening((request, response) => {
    seen.push(request.headers['traceparent'] as string | undefined)
    response.writeHead(request.url === '/broken' ? 500 : 200).end('{}')
  })
  await callHttp({ peer: 'peer', method: 'GET', url: peer.url })
  expect(seen[0]).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/)
  const own = await received('the call', ({ name }) => name === 'GET peer')
  expect(seen[0]).toBe(`00-${own.traceId}-${own.spanId}-01`)
  await callHttp({ peer: 'ill', method: 'GET', url: `${peer.url}/broken` }).catch(() => undefined)
  const ill = await received('the failure', ({ name }) => name === 'GET ill')
  expect(ill.status).toEqual({ code: 2, message: 'DriverFailure' })
  expect(valueOf(ill, 'http.response.status_code')).toBe('500')

  await portal.reopen({ sitesGoOn: true }, async () => {
    expect(startSpan({ name: 'off', kind: 'client' })).toBeUndefined()
    await callHttp({ peer: 'off', method: 'GET', url: peer.url })
    expect([seen.length, seen.at(-1)]).toEqual([3, undefined])
  })
  await peer.close()
}, 60_000)

test('a share of the traces that begin here', async () => {
  const tracer = createOtlpTracer(
    {
      endpoint: `${collector.url}/`,
      headers: {},
      serviceName: 'test',
      version: '0',
      share: 0.5,
    },
    createLog('silent'),
  )
  for (let index = 0; index < 400; index++) {
    const span = tracer.start({ name: 'shared', kind: 'consumer' })
    tracer.within(span, () => tracer.start({ name: 'part', kind: 'client' })).end()
    span.end()
  }
  await tracer.close()
  const of = (name: string) => collector.spans.filter((one) => one.name === name)
  expect(of('shared').length).toBeGreaterThan(100)
  expect(of('shared').length).toBeLessThan(300)
  // Whole traces, or nothing of one.
  expect(of('part').map((one) => one.traceId)).toEqual(of('shared').map((one) => one.traceId))
})
