/** A test portal whose servers send e-mail, with the actions of their PHP and their owners. */
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { expect } from 'vitest'
import type { Domain } from '../contract/dns.ts'
import type { MailState, SentMail } from '../contract/wordpress-mail.ts'
import { transaction } from '../server/platform/db.ts'
import { sendMailJob } from '../server/wordpress/mail/store.ts'
import { openTestDns, type TestDns } from './dns-server.ts'
import { domainsOf } from './domain-owner.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
  type TestPortalOptions,
} from './portal.ts'

export interface MailServer {
  readonly id: string
  readonly name: string
  readonly owner: TestCustomer
}

const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
/** The stand-in for PHP recognises the program by its first line; real PHP runs it. */
const program = `<?php // probe: mail
echo 'mail=', var_export( mail( $_GET['to'], $_GET['subject'] ?? '', $_GET['body'] ?? '',
	$_GET['headers'] ?? '', $_GET['parameters'] ?? '' ), true );
`

/** Domains that are served here may be used as senders. `more`: options that a test replaces. */
export async function openMailPortal(
  more: TestPortalOptions = {},
): Promise<{ dns: TestDns; portal: TestPortal }> {
  const dns = await openTestDns()
  const portal = await openTestPortal({
    env: {
      DNS_RESOLVERS: dns.address,
      SITES_DOMAIN: 'sites.example.net',
      SITE_MAIL_SPF: 'include:_spf.relay.example',
    },
    ...more,
  })
  dns.records.set('A *.sites.example.net', ['127.0.0.1'])
  return { dns, portal }
}

/** Actions on servers at a portal whose sites' domain is `sites.example.net`. */
export function mailServersOf(portal: () => TestPortal) {
  const call = <T>(server: MailServer, method: string, rest = '', body?: unknown) =>
    portal().call<T>(method, `/api/wp/${server.id}${rest}`, {
      token: server.owner.token,
      ...(body !== undefined && { body }),
    })

  const put = (server: MailServer, file: string, text: string): void =>
    fs.writeFileSync(path.join(portal().dataDir, 'sites', server.id, 'wordpress', file), text)

  async function server(given?: TestCustomer): Promise<MailServer> {
    const owner = given ?? (await portal().customer())
    await portal().topUp(owner, 1_000_000)
    const { token } = owner
    const made = await portal().call<{ id: string }>('POST', '/api/wp', { token, body: order })
    const { id } = made.body.result
    const name = await eventually(
      'the server running',
      async () => {
        const { result } = (
          await portal().call<{ status: string; name: string }>('GET', `/api/wp/${id}`, { token })
        ).body
        return result.status === 'running' && result.name
      },
      90,
    )
    const running = { id, name, owner }
    put(running, 'probe-mail.php', program)
    return running
  }

  /** A visitor's request to the site. */
  const visit = (server: MailServer, target: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      http
        .get(
          {
            host: '127.0.0.1',
            port: portal().config.SITES_PORT,
            path: target,
            headers: { host: `${server.name}.sites.example.net` },
            agent: false,
          },
          (answer) => {
            let text = ''
            answer.setEncoding('utf8')
            answer.on('data', (piece: string) => (text += piece))
            answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text }))
          },
        )
        .once('error', reject)
    })

  /** A page of the site calls mail(); returns its result. */
  const send = async (server: MailServer, mail: Record<string, string>): Promise<boolean> => {
    const { text } = await visit(server, `/probe-mail.php?${new URLSearchParams(mail)}`)
    if (!/^mail=(?:true|false)$/.test(text)) throw new Error(`no answer of mail(): ${text}`)
    return text === 'mail=true'
  }

  const state = async (of: MailServer): Promise<MailState> =>
    (await call<MailState>(of, 'GET', '/mail')).body.result
  const log = async (of: MailServer, query = ''): Promise<SentMail[]> =>
    (await call<SentMail[]>(of, 'GET', `/mail/messages${query}`)).body.result
  /** The newest entry for a recipient, once it is in one of the states. */
  const became = (
    of: MailServer,
    to: string,
    ...states: readonly SentMail['state'][]
  ): Promise<SentMail> =>
    eventually(
      `mail to ${to} ${states.join(' or ')}`,
      async () =>
        (await log(of, '?limit=100')).find((one) => one.to === to && states.includes(one.state)),
      60,
    )

  const rows = (of: MailServer, to: string) =>
    portal()
      .app.db.selectFrom('site_mail')
      .selectAll()
      .where('site_id', '=', of.id)
      .where('recipient', '=', to)
      .execute()
  /** Queues the job now that would otherwise run later, because the queue uses the real clock. */
  const wake = ({ id: siteId }: MailServer): Promise<unknown> =>
    transaction(portal().app.db, (tx) => portal().app.jobs.add(tx, sendMailJob, { siteId }))

  /** The mail as it arrived, with the envelope's sender on top. */
  const raw = async (to: string): Promise<Buffer> => {
    const url = `${portal().sandboxUrl}/inbox.eml?to=${encodeURIComponent(to)}`
    return Buffer.from(await (await fetch(url)).arrayBuffer())
  }
  const header = async (to: string, name: string): Promise<string | undefined> => {
    const text = (await raw(to)).toString('utf8')
    const head = text.slice(0, text.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ')
    const line = head
      .split('\r\n')
      .find((one) => one.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    return line?.slice(line.indexOf(':') + 1).trim()
  }

  /** A domain that is served here for the customer and added to the server. */
  async function domainFor(of: MailServer, name: string): Promise<Domain> {
    const domains = domainsOf(() => of.owner, portal)
    const domain = await domains.create(name)
    await domains.activate(domain)
    const pointed = await domains.call('POST', `/api/dns/${domain.id}/point`, { wp: of.id })
    expect(pointed.status, pointed.text).toBe(200)
    return domain
  }

  return {
    call,
    put,
    server,
    visit,
    send,
    state,
    log,
    became,
    rows,
    wake,
    raw,
    header,
    domainFor,
  }
}
