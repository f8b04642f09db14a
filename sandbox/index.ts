/**
 * The sandbox: programs that stand in for third parties and speak their wire protocols, with
 * signatures and callbacks. The portal does not know about it; only the addresses and keys of its
 * drivers differ. It imports nothing from the portal's server. Its state is in the schema `sandbox`
 * of the given database.
 */
import type { AddressInfo } from 'node:net'
import { acmeRoutes, authorityTable, type AcmeOptions } from './acme/index.ts'
import { openDatabase, type Database } from './database.ts'
import type { Keys } from './gateway.ts'
import { gateways } from './gateways.ts'
import { esmsRoutes, type EsmsKeys } from './esms.ts'
import { json, serverFor, type Reply, type Routes } from './http.ts'
import { inboxRoutes, inboxTable } from './inbox.ts'
import { startMail } from './mail.ts'
import type { PoolConfig } from 'pg'
import { assetRoutes, page } from './page.ts'
import { receiverRoutes, receiverTable } from './receiver.ts'
import { webhookTable } from './webhooks.ts'
import { directoryRoutes } from './wordpress/index.ts'
import { openRegistryServer, registryRoutes, registryTable } from './registry/index.ts'

export interface SandboxOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly databaseUrl: string
  /** Connection options, where the URL alone does not suffice. */
  readonly database?: PoolConfig
  /** The address for webhooks, without a path; a function where it is known only later. */
  readonly portalUrl: string | (() => string)
  /** The keys of each gateway that needs a stand-in, by its name. */
  readonly gateways: Readonly<Record<string, Keys>>
  readonly esms: EsmsKeys
  /**
   * How the certificate authorities check a name. Without it: as on the internet, at port 80 and
   * with the system's resolver.
   */
  readonly acme?: AcmeOptions
  /** Where the portal receives bounce reports by SMTP; without it none is sent. */
  readonly reportsTo?: { readonly host: string; readonly port: number }
  /** Where the portal receives letters to the support by SMTP; without it none is answered. */
  readonly lettersTo?: { readonly host: string; readonly port: number }
  /**
   * WordPress's files as sites here have them, for a release of it under another version number.
   */
  readonly wordpressFiles?: string
  /**
   * UDP and TCP port of the registry's name server (the root and every ending); 0 or absent: any
   * free port.
   */
  readonly registryPort?: number
  readonly log: (line: string) => void
  /**
   * Multiplies the delays between repeated webhooks, and of late ones; 1 if absent. Tests use less.
   */
  readonly pace?: number
}
export interface Sandbox {
  /** http://host:port, without a slash at the end. Gateways are below: /vnpay, /esms … */
  readonly url: string
  /** smtp://127.0.0.1:port */
  readonly smtpUrl: string
  /** The port of the registry's name server on 127.0.0.1. */
  readonly registryPort: number
  /** Finishes the calls in progress. */
  close(): Promise<void>
}

const asTheInternet: AcmeOptions = {
  httpPort: 80,
  nameServerPort: 53,
  resolvers: [],
  binding: { keyId: 'sandbox', hmacKey: 'c2FuZGJveA' },
}

const home = (): Reply =>
  page({
    title: 'Sandbox',
    language: 'en',
    main: `<div class="flag">SANDBOX · no real money, no real messages · <span lang="vi">không có
  tiền thật, không có tin nhắn thật</span></div>
<main>
<h1>Sandbox</h1>
<p class="soft">The portal's third parties, stood in for. They speak the real wire protocols, so the
  portal runs the very code it runs with real keys.
<span lang="vi">Thay cho các bên thứ ba của cổng, đúng giao thức thật.</span></p>
<section class="card"><h2>For a person · <span lang="vi">Cho người dùng</span></h2>
<ul class="parts"><li><a href="/inbox">Inbox</a>: every SMS and e-mail sent, with the codes to sign
up · <span lang="vi">mọi SMS và e-mail đã gửi, có mã xác nhận</span></li>
${Object.values(gateways)
  .map(({ guide }) => `<li>${guide.person}</li>`)
  .join('\n')}
<li><a href="/registry">Registry</a>: register a domain and set its name servers · <span
lang="vi">đăng ký tên miền và đặt máy chủ tên</span></li>
<li><a href="/wordpress">Directory of WordPress</a>: releases of WordPress, plugins and themes, good
and bad ones · <span lang="vi">các bản phát hành WordPress, plugin, giao diện</span></li>
<li><a href="/hooks">Webhooks</a>: a customer's program, called by the portal · <span
lang="vi">chương trình của khách hàng, được cổng gọi đến</span></li>
<li><a href="/acme">Certificate authorities</a>: what they issued; revoke, or have them fail · <span
lang="vi">chứng chỉ đã cấp; thu hồi, hoặc cho nơi cấp gặp sự cố</span></li></ul></section>
<section class="card"><h2>For a program · <span lang="vi">Cho chương trình</span></h2>
<ul class="parts"><li><code>GET <a href="/inbox.json">/inbox.json</a>?to=&lt;phone or
e-mail&gt;</code></li>
${Object.values(gateways)
  .map(({ guide }) => `<li>${guide.program}</li>`)
  .join('\n')}
<li><code>POST /esms/MainService.svc/json/SendMultipleMessage_V4_post_json/</code></li>
<li><code>POST /hooks/&lt;name&gt;</code>, <code>GET <a
href="/hooks.json">/hooks.json</a>?name=&lt;name&gt;</code></li>
<li><code>GET, POST, DELETE <a href="/registry.json">/registry.json</a></code></li>
<li><code>GET <a href="/acme/first/directory">/acme/first/directory</a></code>, <code>GET, POST <a
href="/acme/first/state.json">/acme/first/state.json</a></code>, and the same for
<code>second</code></li>
<li><code>GET, POST <a href="/wordpress/state.json">/wordpress/state.json</a></code></li>
<li><code>GET <a href="/healthz">/healthz</a></code></li></ul></section>
</main>`,
  })

function healthRoute(db: Database): Routes {
  return {
    'GET /healthz': async () =>
      db.query('select 1').then(
        () => json({ status: 'ok' }),
        () => json({ status: 'no database' }, 503),
      ),
  }
}

/** Starts everything. Rejects when the database cannot be reached or the port is taken. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { log, portalUrl } = options
  const tables = Object.values(gateways).map((gateway) => gateway.tables)
  const db = await openDatabase(
    options.database ?? { connectionString: options.databaseUrl },
    [inboxTable, receiverTable, webhookTable, registryTable, authorityTable, ...tables],
    log,
  )
  const portal = (): string =>
    (typeof portalUrl === 'function' ? portalUrl() : portalUrl).replace(/\/+$/, '')
  const mail = await startMail(db, log, options.reportsTo)
  const registry = await openRegistryServer({
    db,
    host: '127.0.0.1',
    port: options.registryPort ?? 0,
    log,
  }).catch(async (error: unknown) => {
    await mail.close()
    await db.end()
    throw error
  })
  const opened = Object.entries(options.gateways).map(([name, keys]) => {
    const gateway = gateways[name]
    if (!gateway) throw new Error(`the sandbox stands in for no gateway named ${name}`)
    return gateway.open(db, keys, {
      webhookUrl: () => `${portal()}/api/webhooks/${name}`,
      url: () => url,
      pace: options.pace ?? 1,
      log,
    })
  })
  let url = ''
  const routes: Routes = {
    'GET /': home,
    ...assetRoutes(),
    ...healthRoute(db),
    ...inboxRoutes(db, options.lettersTo),
    ...receiverRoutes(db),
    ...esmsRoutes(db, options.esms),
    ...registryRoutes(db),
    ...directoryRoutes(() => url, options.wordpressFiles),
    ...(await acmeRoutes(db, options.acme ?? asTheInternet, () => url)),
    ...Object.assign({}, ...opened.map((gateway) => gateway.routes)),
  }
  const server = serverFor(routes, log)

  async function closeRest(): Promise<void> {
    await Promise.all([...opened.map((gateway) => gateway.close()), mail.close(), registry.close()])
    await db.end()
  }
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(options.port, options.host, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } catch (error) {
    await closeRest()
    throw error
  }
  server.on('error', (error) => log(`sandbox: ${error.message}`))
  const { port } = server.address() as AddressInfo
  let host
  if (options.host === '0.0.0.0' || options.host === '::') host = '127.0.0.1'
  else if (options.host.includes(':')) host = `[${options.host}]`
  else host = options.host

  url = `http://${host}:${port}`
  return {
    url,
    smtpUrl: mail.url,
    registryPort: registry.port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      // A page that waits for a merchant's answer may still finish, but not for longer than this.
      const late = setTimeout(() => server.closeAllConnections(), 3000)
      await Promise.all(opened.map((gateway) => gateway.close()))
      await closed
      clearTimeout(late)
      await Promise.all([mail.close(), registry.close()])
      await db.end()
    },
  }
}
