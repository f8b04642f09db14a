/**
 * `npm run bench -- dns-loop`: a domain's whole life as seen from the internet. It has a root and
 * registry of its own, unbound as a resolver that follows their delegations to a started portal,
 * and dig as unbound's client: only the delegation leads unbound to the portal. Everything is on
 * loopback addresses at port 53, because glue carries no port. That needs Linux, and either root or
 * `sysctl net.ipv4.ip_unprivileged_port_start=53`. Fails at the first step that does not hold.
 */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Check, Domain, Record as DnsRecord } from '../contract/dns.ts'
import { openNameServer } from '../sandbox/name-server.ts'
import { registryAnswer } from '../sandbox/registry/answers.ts'
import { readRegistration, type RegisteredName } from '../sandbox/registry/names.ts'
import { serverProgram } from '../scripts/bootstrap.mjs'
import { call as callApi, freePort, signIn, startPortal } from './portal.ts'

const addresses = {
  registry: '127.53.0.1',
  portal: '127.53.0.2',
  child: '127.53.0.3',
  resolver: '127.53.0.4',
} as const
const port = 53
/** A change is served within a second, and unbound caches the earlier answer for one more. */
const patienceMs = 5000
const name = 'vuon-rau.com.vn'

const find = (program: string): string => {
  const { status, stdout } = spawnSync(
    'sh',
    ['-c', `PATH=$PATH:/usr/sbin:/usr/local/sbin command -v ${program}`],
    { encoding: 'utf8' },
  )
  if (status === 0) return stdout.trim()
  console.log(`${program} is not installed (Debian: unbound, bind9-dnsutils). Nothing was tried.`)
  process.exit(1)
}
const [unbound, digProgram] = [find('unbound'), find('dig')]
const log = (line: string): void => console.log(line)

const registered = new Map<string, RegisteredName>()
const listen = (host: string, answer: Parameters<typeof openNameServer>[0]['answer']) =>
  openNameServer({ host, port, answer, log }).catch((error: unknown): never => {
    console.log(
      `No name server can listen at ${host}:${port} (` +
        `${error instanceof Error ? error.message : 'unknown'}). See the head of ` +
        'bench/dns-loop.ts.',
    )
    process.exit(1)
  })
const registry = await listen(addresses.registry, (question) =>
  registryAnswer(question, async (asked) => registered.get(asked), {
    own: addresses.registry,
    registered: addresses.portal,
  }),
)
/** A third party's name server, which serves the delegated part of the domain. */
const child = await listen(addresses.child, ({ name: asked, type }) => {
  const soa = {
    mname: `ns.${name}`,
    rname: `hostmaster.${name}`,
    serial: 1,
    refresh: 7200,
    retry: 900,
    expire: 1_209_600,
    minimum: 1,
  }
  if (asked === `host.lab.${name}` && type === 'A')
    return {
      rcode: 'NOERROR',
      isAuthoritative: true,
      answers: [{ type, name: asked, ttl: 30, data: '203.0.113.99' }],
    }
  if (asked === `lab.${name}` && type === 'NS')
    return {
      rcode: 'NOERROR',
      isAuthoritative: true,
      answers: [{ type, name: asked, ttl: 30, data: `ns.${name}` }],
    }
  return {
    rcode: 'NOERROR',
    isAuthoritative: true,
    authorities: [{ type: 'SOA', name: `lab.${name}`, ttl: 1, data: soa }],
  }
})

const folder = mkdtempSync(path.join(os.tmpdir(), 'dns-loop-'))
const resolverPort = await freePort()
writeFileSync(
  path.join(folder, 'root.hints'),
  `. 3600 NS a.registry.sandbox.\na.registry.sandbox. 3600 A ${addresses.registry}\n`,
)
// It does not validate DNSSEC, because our root is not signed. It caches for one second, so that a
// change is visible while the benchmark waits.
writeFileSync(
  path.join(folder, 'unbound.conf'),
  `server:
  interface: ${addresses.resolver}@${resolverPort}
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  do-ip6: no
  root-hints: "${folder}/root.hints"
  module-config: "iterator"
  qname-minimisation: yes
  use-caps-for-id: yes
  cache-max-ttl: 1
  cache-max-negative-ttl: 1
  infra-host-ttl: 1
  do-daemonize: no
  use-syslog: no
  chroot: ""
  username: ""
  directory: "${folder}"
  pidfile: "${folder}/unbound.pid"
remote-control:
  control-enable: no
`,
)
const resolver = spawn(unbound, ['-d', '-c', path.join(folder, 'unbound.conf')], {
  stdio: ['ignore', 'ignore', 'pipe'],
})
let complaints = ''
resolver.stderr.on('data', (bytes: Buffer) => (complaints += bytes.toString()))

const portal = await startPortal({
  command: [
    'env',
    `HOST=${addresses.portal}`,
    `DNS_PORT=${port}`,
    `DNS_ROOT_SERVERS=${addresses.registry}:${port}`,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    serverProgram('main'),
  ],
})
const at = { ...portal, url: portal.url.replace('127.0.0.1', addresses.portal) }

let failed = false
let number = 0
const step = (text: string): void => log(`\n${String(++number).padStart(2)}. ${text}`)
const holds = (what: string, isSo: boolean): void => {
  log(`    ${isSo ? 'holds' : 'DOES NOT HOLD'}: ${what}`)
  if (!isSo) throw new Error(what)
}
/** What dig receives from unbound: the status and the sorted lines of the answer. */
async function dig(of: string, type: string): Promise<{ status: string; lines: string[] }> {
  const asked = [
    `@${addresses.resolver}`,
    '-p',
    String(resolverPort),
    '+noall',
    '+comments',
    '+answer',
    '+tries=2',
    '+time=3',
    of,
    type,
  ]
  // dig exits with 9 when no answer arrives.
  const said = await promisify(execFile)(digProgram, asked).then(
    ({ stdout }) => stdout,
    () => '',
  )
  return {
    status: /status: (\w+)/.exec(said)?.[1] ?? 'silence',
    lines: said
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(';'))
      .map((line) => line.split(/\s+/).join(' '))
      .toSorted(),
  }
}
/**
 * Queries until dig receives exactly this: `status` or the ends of its lines; prints what it
 * received and when.
 */
async function expectDig(
  of: string,
  type: string,
  wanted: string | readonly string[],
): Promise<void> {
  const began = performance.now()
  for (;;) {
    const { status, lines } = await dig(of, type)
    const isSo =
      typeof wanted === 'string'
        ? status === wanted
        : lines.length === wanted.length &&
          wanted.every((end) => lines.some((line) => line.endsWith(end)))
    const ms = Math.round(performance.now() - began)
    if (isSo || ms > patienceMs) {
      log(`    dig ${of} ${type} → ${status}, after ${ms} ms`)
      for (const line of lines)
        log(
          '      ' +
            `${line.length > 150 ? `${line.slice(0, 150)}… (${line.length} characters)` : line}`,
        )
      return holds(typeof wanted === 'string' ? wanted : `exactly ${wanted.length} record(s)`, isSo)
    }
    await pause(50)
  }
}

try {
  const token = await signIn(at)
  const call = <T>(method: string, address: string, body?: unknown): Promise<T> =>
    callApi<T>(at, method, address, token, body)

  step(`create ${name}`)
  const domain = await call<Domain>('POST', '/api/dns', { name })
  const records = `/api/dns/${domain.id}/records`
  log(`    its name servers: ${domain.nameserver.join(', ')}`)
  await expectDig(name, 'SOA', 'NXDOMAIN')

  step('check before it is delegated')
  const early = await call<Check>('GET', `/api/dns/check?domain=${name}`)
  log(`    ${early.reason}: ${early.advice}`)
  holds(
    'not valid, since the registry does not know it',
    !early.isValid && early.reason === 'not_registered',
  )

  step('delegate at the registry')
  const registration = readRegistration({ name, nameservers: domain.nameserver })
  if ('error' in registration) throw new Error(registration.error)
  registered.set(name, registration)
  await expectDig(
    name,
    'NS',
    domain.nameserver.map((host) => `NS ${host}.`),
  )

  step('check again')
  const check = await call<Check>('GET', `/api/dns/check?domain=${name}`)
  holds(`valid: the parent names ${check.found.join(', ')}`, check.isValid)
  holds('the domain is active', (await call<Domain>('GET', `/api/dns/${domain.id}`)).active)

  step('records of all six types')
  const long = `${'v=TEST; '.repeat(250)}end`
  const add = (over: object) => call<DnsRecord>('POST', records, { name: '@', ttl: 300, ...over })
  const a = await add({ type: 'A', content: '203.0.113.7' })
  await add({ type: 'AAAA', content: '2001:db8::7' })
  await add({ type: 'CNAME', name: 'www', content: name })
  await add({ type: 'MX', content: `mail.${name}`, priority: 5 })
  const spf = await add({ type: 'TXT', content: '"v=spf1 mx -all"' })
  await add({ type: 'TXT', name: 'long', content: long })
  await add({ type: 'A', name: 'ns', content: addresses.child })
  await add({ type: 'NS', name: 'lab', content: `ns.${name}` })
  await expectDig(name, 'A', ['A 203.0.113.7'])
  await expectDig(name, 'AAAA', ['AAAA 2001:db8::7'])
  await expectDig(`www.${name}`, 'A', [`CNAME ${name}.`, 'A 203.0.113.7'])
  await expectDig(name, 'MX', [`MX 5 mail.${name}.`])
  await expectDig(name, 'TXT', ['TXT "v=spf1 mx -all"'])
  await expectDig(`long.${name}`, 'TXT', ['end"'])
  await expectDig(`lab.${name}`, 'NS', [`NS ns.${name}.`])
  step('through the NS record to a server of somebody else')
  await expectDig(`host.lab.${name}`, 'A', ['A 203.0.113.99'])
  await expectDig(`nobody.${name}`, 'A', 'NXDOMAIN')

  step('edit the address')
  await call('PUT', `${records}/${a.id}`, {
    name: '@',
    type: 'A',
    content: '203.0.113.8',
    ttl: 60,
    version: a.version,
  })
  await expectDig(name, 'A', ['A 203.0.113.8'])
  await expectDig(`www.${name}`, 'A', [`CNAME ${name}.`, 'A 203.0.113.8'])

  step('delete the text')
  const { changeId } = await call<{ changeId: string }>('DELETE', `${records}/${spf.id}`)
  await expectDig(name, 'TXT', [])

  step('undo that')
  await call('POST', `/api/dns/${domain.id}/changes/${changeId}/undo`, {})
  await expectDig(name, 'TXT', ['TXT "v=spf1 mx -all"'])

  step('delete the domain')
  await call('DELETE', `/api/dns/${domain.id}`)
  // The registry still delegates the domain to servers that refuse it.
  await expectDig(name, 'A', 'SERVFAIL')
  log('\nEvery step holds.')
} catch (error) {
  failed = true
  log(`\nThe loop is broken: ${error instanceof Error ? error.message : String(error)}`)
  if (complaints !== '') log(complaints)
} finally {
  const gone = new Promise((resolve) => resolver.once('exit', resolve))
  if (resolver.exitCode === null) {
    resolver.kill('SIGTERM')
    await gone
  }
  await Promise.all([portal.stop(), registry.close(), child.close()])
  rmSync(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
