/**
 * The sandbox's certificate authorities, called by the portal's client and by other ACME clients.
 */
import { execFile, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openAcme, type AcmeClient } from '../../server/certificates/acme/client.ts'
import { signedCall, thumbprint } from '../../server/certificates/acme/jws.ts'
import {
  certificateRequest,
  newKey,
  readChain,
  renewalId,
} from '../../server/certificates/acme/x509.ts'
import { testDatabase } from '../../test/database.ts'
import { openTestDns, type TestDns } from '../../test/dns-server.ts'
import { freePort } from '../../test/portal.ts'
import { startSandbox, type Sandbox } from '../index.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
let dns: TestDns
let sandbox: Sandbox
let httpPort = 0
/** Answers of the web server at the names, by path. */
const answers = new Map<string, string>()
let web: http.Server | undefined
const binding = {
  keyId: 'portal',
  hmacKey: Buffer.from('a key of thirty-two characters..').toString('base64url'),
}
const name = 'shop.example.org'

async function openWeb(): Promise<void> {
  web = http.createServer((request, response) => {
    const body = answers.get(request.url ?? '')
    response.writeHead(body === undefined ? 404 : 200).end(body)
  })
  await new Promise<void>((resolve) => web?.listen(httpPort, '127.0.0.1', resolve))
}
const closeWeb = (): Promise<void> =>
  new Promise((resolve) => {
    if (!web?.close(() => resolve())) resolve()
  })

beforeAll(async () => {
  database = await testDatabase()
  dns = await openTestDns()
  httpPort = await freePort()
  sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: database.url,
    portalUrl: 'http://127.0.0.1:9',
    gateways: {},
    esms: { apiKey: 'KEY', secretKey: 'SECRET' },
    acme: { httpPort, nameServerPort: 1, resolvers: [dns.address], binding },
    log: () => undefined,
  })
  await openWeb()
})
afterAll(async () => {
  await closeWeb()
  await sandbox?.close()
  await dns?.close()
  await database?.drop()
})
beforeEach(() => {
  answers.clear()
  dns.records.clear()
  dns.records.set(`A ${name}`, ['127.0.0.1'])
})

const directory = (id: 'first' | 'second'): string => `${sandbox.url}/acme/${id}/directory`
const rootOf = async (id: 'first' | 'second'): Promise<X509Certificate> =>
  new X509Certificate(await (await fetch(`${sandbox.url}/acme/${id}/root.pem`)).text())

/** An account of the portal's client with an authority. */
async function client(id: 'first' | 'second' = 'first') {
  const key = newKey()
  const acme = openAcme(directory(id), key)
  const account = await acme.account({
    contact: 'an@example.org',
    binding: id === 'second' ? binding : undefined,
  })
  return { key, acme, account }
}
/** Answers the challenges of an order, and waits until the authority has looked. */
async function prove(
  { key, acme, account }: { key: string; acme: AcmeClient; account: string },
  authorizations: readonly string[],
  answerOf: (token: string) => string = (token) => `${token}.${thumbprint(key)}`,
) {
  for (const url of authorizations) {
    const { value } = await acme.authorization(account, url)
    const challenge = value.challenges.find(({ type }) => type === 'http-01')
    const token = challenge?.token ?? ''
    answers.set(`/.well-known/acme-challenge/${token}`, answerOf(token))
    await acme.begin(account, challenge?.url ?? '')
    await expect
      .poll(async () => (await acme.authorization(account, url)).value.status)
      .not.toBe('pending')
  }
  return (await acme.authorization(account, authorizations[0] ?? '')).value
}
const errorOf = (looked: Awaited<ReturnType<typeof prove>>): string | undefined =>
  looked.challenges
    .find(({ error }) => error)
    ?.error?.type.split(':')
    .at(-1)

describe('an order', () => {
  it('ends with a certificate that the root vouches for', async () => {
    const who = await client()
    const { url, order } = await who.acme.newOrder(who.account, { names: [name] })
    expect((await prove(who, order.authorizations)).status).toBe('valid')
    const key = newKey()
    await who.acme.finalize(who.account, order.finalize, certificateRequest(key, [name]))
    const { value: done } = await who.acme.order(who.account, url)
    const chain = await who.acme.certificate(who.account, done.certificate ?? '')
    expect(readChain(chain, key, [name]).issuer).toBe('Sandbox CA')
    const [leaf, middle] = chain
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .filter((pem) => pem !== '')
      .map((pem) => new X509Certificate(pem))
    const root = await rootOf('first')
    expect(leaf?.verify(middle?.publicKey ?? root.publicKey)).toBe(true)
    expect([middle?.verify(root.publicKey), leaf?.checkHost(name)]).toEqual([true, name])
    const window = await who.acme.renewalWindow(renewalId(chain) ?? '')
    const life = (leaf?.validToDate.getTime() ?? 0) - (leaf?.validFromDate.getTime() ?? 0)
    const share = ((window?.start.getTime() ?? 0) - (leaf?.validFromDate.getTime() ?? 0)) / life
    expect(share).toBeCloseTo(0.66, 2)
  })

  it('for names that the request does not name is refused', async () => {
    const who = await client()
    const { order } = await who.acme.newOrder(who.account, { names: [name] })
    const request = certificateRequest(newKey(), [name, 'www.shop.example.org'])
    await expect(who.acme.finalize(who.account, order.finalize, request)).rejects.toMatchObject({
      type: 'orderNotReady',
    })
    await prove(who, order.authorizations)
    await expect(who.acme.finalize(who.account, order.finalize, request)).rejects.toMatchObject({
      type: 'badCSR',
    })
    const forged = certificateRequest(newKey(), [name])
    forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1
    await expect(who.acme.finalize(who.account, order.finalize, forged)).rejects.toMatchObject({
      type: 'badCSR',
    })
  })

  it('is another account’s to nobody', async () => {
    const [who, other] = [await client(), await client()]
    const { url } = await who.acme.newOrder(who.account, { names: [name] })
    await expect(other.acme.order(other.account, url)).rejects.toMatchObject({ status: 404 })
  })

  it.each(['127.0.0.1', 'a_b.example.org', 'nodots', ''])('for %j is refused', async (odd) => {
    const who = await client()
    await expect(who.acme.newOrder(who.account, { names: [odd] })).rejects.toMatchObject({
      type: 'rejectedIdentifier',
    })
  })
})

describe('the authority looks', () => {
  it.each<[string, string, () => Promise<void> | void]>([
    ['at no address', 'dns', () => dns.records.clear()],
    ['where nobody listens', 'connection', closeWeb],
    ['at another answer', 'unauthorized', () => undefined],
    [
      'at a domain whose CAA names others',
      'caa',
      () =>
        void dns.records.set(`CAA example.org`, [
          { flags: 0, tag: 'issue', value: 'other.example' },
        ] as never),
    ],
  ])('%s: %s', async (_what, problem, arrange) => {
    await arrange()
    const who = await client()
    const { order } = await who.acme.newOrder(who.account, { names: [name] })
    const looked = await prove(who, order.authorizations, (token) => `${token}.another-key`)
    expect([looked.status, errorOf(looked)]).toEqual(['invalid', problem])
    if (problem === 'connection') await openWeb()
  })

  it('into the DNS for a wildcard, and nowhere else', async () => {
    const who = await client()
    const { order } = await who.acme.newOrder(who.account, { names: ['*.example.org'] })
    const [url = ''] = order.authorizations
    const { value } = await who.acme.authorization(who.account, url)
    expect(value.challenges.map(({ type }) => type)).toEqual(['dns-01'])
    expect([value.wildcard, value.identifier.value]).toEqual([true, 'example.org'])
  })
})

describe('an account', () => {
  it('needs the other contract where the authority wants one', async () => {
    const acme = openAcme(directory('second'), newKey())
    expect(await acme.needsBinding()).toBe(true)
    const without = acme.account({ contact: undefined, binding: undefined })
    await expect(without).rejects.toMatchObject({ type: 'externalAccountRequired' })
    const wrong = acme.account({
      contact: undefined,
      binding: { ...binding, hmacKey: Buffer.from('another key').toString('base64url') },
    })
    await expect(wrong).rejects.toMatchObject({ type: 'unauthorized' })
    const url = await acme.account({ contact: undefined, binding })
    expect(await acme.account({ contact: undefined, binding })).toBe(url)
  })

  it('cannot be spoken for: nonces count once, and a call is signed for its address', async () => {
    const { key, account } = await client()
    const orders = `${sandbox.url}/acme/first/new-order`
    const post = async (jws: object, to = orders): Promise<string> => {
      const answer = await fetch(to, {
        method: 'POST',
        headers: { 'content-type': 'application/jose+json' },
        body: JSON.stringify(jws),
      })
      const { type } = (await answer.json()) as { type?: string }
      return `${answer.status} ${type?.split(':').at(-1)}`
    }
    const nonce = async (): Promise<string> =>
      (await fetch(`${sandbox.url}/acme/first/new-nonce`, { method: 'HEAD' })).headers.get(
        'replay-nonce',
      ) ?? ''
    const payload = { identifiers: [{ type: 'dns', value: name }] }
    const good = signedCall(key, { url: orders, nonce: await nonce(), account }, payload)
    expect(await post(good)).toBe('201 undefined')
    expect(await post(good)).toBe('400 badNonce')
    const misled = signedCall(key, { url: `${orders}x`, nonce: await nonce(), account }, payload)
    expect(await post(misled)).toBe('403 unauthorized')
    const stranger = signedCall(newKey(), { url: orders, nonce: await nonce(), account }, payload)
    expect(await post(stranger)).toBe('400 malformed')
    const nobody = { url: orders, nonce: await nonce(), account: `${account}x` }
    expect(await post(signedCall(key, nobody, payload))).toBe('400 accountDoesNotExist')
    expect(await post({ protected: 'x', payload: '', signature: '' })).toBe('400 malformed')
  })
})

it('has a page for people, and keeps its root', async () => {
  const page = await (await fetch(`${sandbox.url}/acme`)).text()
  for (const text of ['SANDBOX', 'Sandbox CA Two', '/acme/first/directory', 'Cấp bình thường'])
    expect(page).toContain(text)
  const set = await fetch(`${sandbox.url}/acme`, {
    method: 'POST',
    body: new URLSearchParams({ authority: 'first', mode: 'down' }),
    redirect: 'manual',
  })
  expect(set.status).toBe(303)
  expect((await fetch(directory('first'))).status).toBe(503)
  expect((await fetch(directory('second'))).status).toBe(200)
  const state = `${sandbox.url}/acme/first/state.json`
  const put = (body: object) => fetch(state, { method: 'POST', body: JSON.stringify(body) })
  expect((await put({ mode: 'odd' })).status).toBe(422)
  expect((await put({ slowMs: -1 })).status).toBe(422)
  expect((await put({ mode: 'well' })).status).toBe(200)
})

/** ACME clients of others, if this machine has them (Debian: apt install lego dehydrated). */
const has = (program: string): boolean => spawnSync('which', [program]).status === 0

describe.skipIf(!has('lego'))('lego', { timeout: 120_000 }, () => {
  it.each(['first', 'second'] as const)('gets a certificate of the %s, and revokes', async (id) => {
    await closeWeb()
    const folder = mkdtempSync(path.join(os.tmpdir(), 'lego-'))
    const run = async (...args: readonly string[]): Promise<string> =>
      (
        await promisify(execFile)('lego', [
          '--accept-tos',
          '--email',
          'an@example.org',
          '--server',
          directory(id),
          '--path',
          folder,
          '--domains',
          name,
          '--http',
          '--http.port',
          `127.0.0.1:${httpPort}`,
          ...(id === 'second' ? ['--eab', '--kid', binding.keyId, '--hmac', binding.hmacKey] : []),
          ...args,
        ])
      ).stderr
    try {
      await run('run')
      const chain = readFileSync(path.join(folder, 'certificates', `${name}.crt`), 'utf8')
      expect(new X509Certificate(chain).subjectAltName).toBe(`DNS:${name}`)
      expect(await run('revoke')).toContain('was revoked')
    } finally {
      rmSync(folder, { recursive: true, force: true })
      await openWeb()
    }
  })
})
