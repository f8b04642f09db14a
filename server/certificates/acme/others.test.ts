/**
 * The client against a foreign authority: Pebble, which Let's Encrypt wrote for testing clients, in
 * its strict mode (Debian: apt install pebble).
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import tls from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCertificate, testRoot } from '../../../test/certificates.ts'
import { openTestDns, type TestDns } from '../../../test/dns-server.ts'
import { eventually, freePort } from '../../../test/portal.ts'
import { openAcme } from './client.ts'
import { thumbprint } from './jws.ts'
import { certificateRequest, newKey, readChain, renewalId } from './x509.ts'

const has = (program: string): boolean => spawnSync('which', [program]).status === 0
const binding = {
  keyId: 'kid-1',
  hmacKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W',
}
const names = ['shop.example.org', 'www.shop.example.org']

describe.skipIf(!has('pebble'))('Pebble', { timeout: 60_000 }, () => {
  const trusted = tls.getCACertificates('default')
  const answers = new Map<string, string>()
  let folder = ''
  let pebble: ChildProcess
  let dns: TestDns
  let web: http.Server
  let directory = ''

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'pebble-'))
    const at = (name: string): string => path.join(folder, name)
    const { chain, key } = testCertificate('localhost')
    writeFileSync(at('cert.pem'), chain)
    writeFileSync(at('key.pem'), key)
    tls.setDefaultCACertificates([...trusted, testRoot])
    const [port, manage, httpPort] = [await freePort(), await freePort(), await freePort()]
    writeFileSync(
      at('config.json'),
      JSON.stringify({
        pebble: {
          listenAddress: `127.0.0.1:${port}`,
          managementListenAddress: `127.0.0.1:${manage}`,
          certificate: at('cert.pem'),
          privateKey: at('key.pem'),
          httpPort,
          tlsPort: 1,
          ocspResponderURL: '',
          externalAccountBindingRequired: true,
          externalAccountMACKeys: { [binding.keyId]: binding.hmacKey },
        },
      }),
    )
    dns = await openTestDns()
    for (const name of names) dns.records.set(`A ${name}`, ['127.0.0.1'])
    web = http.createServer((request, response) => response.end(answers.get(request.url ?? '')))
    await new Promise<void>((resolve) => web.listen(httpPort, '127.0.0.1', resolve))
    const args = ['-config', at('config.json'), '-dnsserver', dns.address, '-strict']
    pebble = spawn('pebble', args, {
      env: { ...process.env, PEBBLE_WFE_NONCEREJECT: '30', PEBBLE_VA_NOSLEEP: '1' },
      stdio: 'ignore',
    })
    directory = `https://localhost:${port}/dir`
    await eventually('Pebble listening', () => fetch(directory).catch(() => undefined))
  })
  afterAll(async () => {
    tls.setDefaultCACertificates(trusted)
    pebble.kill()
    await new Promise((resolve) => web.close(resolve))
    await dns.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('issues for two names, with an external account, though it refuses nonces', async () => {
    const accountKey = newKey()
    const acme = openAcme(directory, accountKey)
    expect(await acme.needsBinding()).toBe(true)
    await expect(
      acme.account({ contact: 'an@example.org', binding: undefined }),
    ).rejects.toMatchObject({ type: 'externalAccountRequired' })
    const account = await acme.account({ contact: 'an@example.org', binding })
    const { url, order } = await acme.newOrder(account, { names })
    for (const one of order.authorizations) {
      const { value } = await acme.authorization(account, one)
      const challenge = value.challenges.find(({ type }) => type === 'http-01')
      answers.set(
        `/.well-known/acme-challenge/${challenge?.token}`,
        `${challenge?.token}.${thumbprint(accountKey)}`,
      )
      if (value.status === 'pending') await acme.begin(account, challenge?.url ?? '')
      await expect
        .poll(async () => (await acme.authorization(account, one)).value.status)
        .toBe('valid')
    }
    const key = newKey()
    await acme.finalize(account, order.finalize, certificateRequest(key, names))
    const done = await eventually('the certificate', async () => {
      const { value } = await acme.order(account, url)
      return value.status === 'valid' && value
    })
    const issued = readChain(await acme.certificate(account, done.certificate ?? ''), key, names)
    expect(issued.issuer).toContain('Pebble')
    expect(renewalId(issued.chain)).toMatch(/^[\w-]+\.[\w-]+$/)
    expect(issued.notAfter.getTime()).toBeGreaterThan(Date.now())
  })

  test('refuses a name that it may not issue for, and says of which kind that is', async () => {
    const acme = openAcme(directory, newKey())
    const account = await acme.account({ contact: undefined, binding })
    await expect(acme.newOrder(account, { names: ['127.0.0.1'] })).rejects.toMatchObject({
      name: 'AcmeProblem',
      status: 400,
    })
  })
})
