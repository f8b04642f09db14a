/**
 * A portal with HTTPS, running servers, names in a DNS, and visitors who trust the sandbox's
 * authorities.
 */
import http2 from 'node:http2'
import https from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import tls from 'node:tls'
import type { SiteHttps } from '../contract/certificates.ts'
import { openTestDns, type TestDns } from './dns-server.ts'
import { fresh } from './named-servers.ts'
import {
  eventually,
  freePort,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
  type TestPortalOptions,
} from './portal.ts'

export interface Page {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}
export interface HttpsServer {
  readonly owner: TestCustomer
  readonly id: string
  readonly name: string
}
/** The behaviour of one of the sandbox's authorities, and its issued certificates, newest first. */
export interface AuthorityState {
  readonly mode: string
  readonly issued: readonly {
    readonly names: readonly string[]
    readonly chain: string
    readonly replaces: string | null
    readonly revoked: boolean
  }[]
}

export type HttpsWorld = Awaited<ReturnType<typeof openHttpsWorld>>

export const sitesDomain = 'sites.example.net'
const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'chu nha',
  password: 'Mat-khau-9!',
  replicate: 1,
}

export async function openHttpsWorld(options: TestPortalOptions = {}) {
  const dns: TestDns = await openTestDns()
  const tlsPort = await freePort()
  const portal: TestPortal = await openTestPortal({
    ...options,
    env: {
      DNS_RESOLVERS: dns.address,
      SITES_DOMAIN: sitesDomain,
      SITES_TLS_PORT: String(tlsPort),
      ...options.env,
    },
  })
  const authority = (id: 'first' | 'second', what: string, body?: object) =>
    fetch(`${portal.sandboxUrl}/acme/${id}/${what}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  const roots = await Promise.all(
    (['first', 'second'] as const).map(async (id) => (await authority(id, 'root.pem')).text()),
  )

  const world = {
    dns,
    portal,
    tlsPort,
    roots,
    /** Changes or reads an authority's behaviour. */
    async behave(id: 'first' | 'second', changes?: object): Promise<AuthorityState> {
      return (await (await authority(id, 'state.json', changes)).json()) as AuthorityState
    },
    async revoke(id: 'first' | 'second', name: string): Promise<void> {
      await authority(id, 'revoke.json', { name })
    },
    /** A running server and its owner; a new customer if none is given. */
    async server(by?: TestCustomer): Promise<HttpsServer> {
      const owner = by ?? (await portal.customer())
      await portal.topUp(owner, 2_000_000)
      const { token } = owner
      const { id } = (await portal.call<{ id: string }>('POST', '/api/wp', { token, body: order }))
        .body.result
      const name = await eventually(
        'the server running',
        async () => {
          const { result } = (
            await portal.call<{ status: string; name: string }>('GET', `/api/wp/${id}`, { token })
          ).body
          return result.status === 'running' && result.name
        },
        60,
      )
      return { owner, id, name }
    },
    /** The server with a new session of its owner, because sessions expire. */
    signIn: async (server: HttpsServer): Promise<HttpsServer> => ({
      ...server,
      owner: await portal.signIn(server.owner),
    }),
    /** Adds a name of the customer's, which leads to this machine, to the server. */
    async named(server: HttpsServer, name = fresh()): Promise<string> {
      world.point(name, server)
      await world.add(server, name)
      return name
    },
    point(name: string, server: HttpsServer): void {
      const own = `${server.name}.${sitesDomain}`
      dns.records.set(`CNAME ${name}`, [own])
      dns.records.set(`A ${name}`, ['127.0.0.1'])
      dns.records.set(`A ${own}`, ['127.0.0.1'])
    },
    async add({ owner: { token }, id }: HttpsServer, name: string): Promise<void> {
      const { domains } = (
        await portal.call<{ domains: string[] }>('GET', `/api/wp/${id}`, { token })
      ).body.result
      const answer = await portal.call('PUT', `/api/wp/${id}/domain`, {
        token,
        body: { domains: [...domains, name] },
      })
      if (answer.status !== 200) throw new Error(answer.text)
    },
    async https({ owner: { token }, id }: HttpsServer): Promise<SiteHttps> {
      return (await portal.call<SiteHttps>('GET', `/api/wp/${id}/https`, { token })).body.result
    },
    async certificate(server: HttpsServer, name: string) {
      return (await world.https(server)).certificates.find((one) => one.name === name)
    },
    /** Resolves once the API shows the name in this state, with this problem. */
    settled: (server: HttpsServer, name: string, state: string, problem: string | null = null) =>
      eventually(`${name} ${state}`, async () => {
        const found = await world.certificate(server, name)
        return found?.state === state && (found.problem?.code ?? null) === problem && found
      }),
    /** Opens a TLS connection as a browser that trusts the sandbox's authorities. */
    handshake: (host: string, more: tls.ConnectionOptions = {}): Promise<tls.TLSSocket> =>
      new Promise((resolve, reject) => {
        const socket = tls.connect({
          host: '127.0.0.1',
          port: tlsPort,
          servername: host,
          ca: roots,
          ...more,
        })
        socket.once('secureConnect', () => resolve(socket))
        socket.once('error', reject)
      }),
    /** By HTTPS and HTTP/1.1. */
    visit: (
      host: string,
      path = '/',
      more: https.RequestOptions & { body?: string } = {},
    ): Promise<Page> =>
      new Promise((resolve, reject) => {
        const request = https.request(
          {
            host: '127.0.0.1',
            port: tlsPort,
            servername: host,
            ca: roots,
            path,
            agent: false,
            ...more,
            headers: { host, ...(more.headers as Record<string, string> | undefined) },
          },
          (answer) => {
            let text = ''
            answer.setEncoding('utf8')
            answer.on('data', (chunk: string) => (text += chunk))
            answer.on('end', () =>
              resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
            )
            answer.on('error', reject)
          },
        )
        request.on('error', reject)
        request.end(more.body)
      }),
    /** By HTTP/2. */
    visit2: (
      host: string,
      path = '/',
      headers: http2.OutgoingHttpHeaders = {},
      body?: string,
    ): Promise<Page> =>
      new Promise((resolve, reject) => {
        const session = http2.connect(`https://${host}:${tlsPort}`, {
          ca: roots,
          servername: host,
          lookup: (_name, _options, done) => {
            const found = [{ address: '127.0.0.1', family: 4 }]
            ;(done as (error: null, found: readonly object[]) => void)(null, found)
          },
        })
        session.once('error', reject)
        const stream = session.request(
          { ':path': path, ...headers },
          { endStream: body === undefined },
        )
        let text = ''
        let status = 0
        let received: IncomingHttpHeaders = {}
        stream.setEncoding('utf8')
        stream.once('response', (got) => {
          status = Number(got[':status'])
          received = got as IncomingHttpHeaders
        })
        stream.on('data', (chunk: string) => (text += chunk))
        stream.once('error', reject)
        stream.once('end', () => {
          session.close()
          resolve({ status, headers: received, text })
        })
        if (body !== undefined) stream.end(body)
      }),
    /** By HTTP, without following redirects. */
    async plain(host: string, path = '/', method = 'GET'): Promise<Page> {
      const { request } = await import('node:http')
      return await new Promise((resolve, reject) => {
        const asked = request(
          {
            host: '127.0.0.1',
            port: portal.config.SITES_PORT,
            path,
            method,
            headers: { host },
            agent: false,
          },
          (answer) => {
            let text = ''
            answer.setEncoding('utf8')
            answer.on('data', (chunk: string) => (text += chunk))
            answer.on('end', () =>
              resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
            )
          },
        )
        asked.on('error', reject)
        asked.end()
      })
    },
    async close(): Promise<void> {
      await portal.close()
      await dns.close()
    },
  }
  return world
}
