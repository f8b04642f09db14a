/** E-mail of servers, from a page's mail() to the inbox, and what keeps it from doing harm. */
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MailDomain } from '../../../contract/wordpress-mail.ts'
import { openTestDns, type TestDns } from '../../../test/dns-server.ts'
import { dig } from '../../../test/dig.ts'
import { jobsIdle } from '../../../test/idle-jobs.ts'
import { signatureOf } from '../../../test/dkim.ts'
import { domainsOf } from '../../../test/domain-owner.ts'
import { mailServersOf, type MailServer } from '../../../test/mail-world.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type Answer,
  type TestPortal,
} from '../../../test/portal.ts'
import { loadCatalog } from '../../catalog/index.ts'
import { createOutbox } from '../../messages/index.ts'
import { createSecrets } from '../../platform/secrets.ts'
import type { Log } from '../../platform/log.ts'
import { createEventOutbox } from '../../realtime/index.ts'
import { provisionJob } from '../order.ts'
import { alignJobs } from '../product.ts'
import { addressingOf } from '../store.ts'
import { openMailOperator } from './operator.ts'
import { days, hours, minutes } from '../../platform/clock.ts'
import { transaction } from '../../platform/db.ts'
import { dropOldMail, sendMailJob } from './store.ts'

let dns: TestDns
let portal: TestPortal
let an: MailServer
let domainId: string
const clock = manualClock()
/** Not a multiple of what a worker takes at once. */
const limit = 23
beforeAll(async () => {
  dns = await openTestDns()
  portal = await openTestPortal({
    clock,
    env: {
      DNS_RESOLVERS: dns.address,
      SITES_DOMAIN: 'sites.example.net',
      SITE_MAIL_SPF: 'include:_spf.relay.example',
    },
    changeCatalog: (catalog) => ({
      ...catalog,
      plans: catalog.plans.map((plan) => ({ ...plan, mailAnHour: limit })),
    }),
  })
  dns.records.set('A *.sites.example.net', ['127.0.0.1'])
  an = await server()
  domainId = (await domainFor(an, 'coffee.com.vn')).id
})
afterAll(async () => {
  await portal.close()
  await dns.close()
})

const { call, server, send, state, log, became, raw, header, domainFor } = mailServersOf(
  () => portal,
)
/** Has the job come that would come later: the queue goes by the wall clock. */
const wake = ({ id: siteId }: MailServer): Promise<unknown> =>
  transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, sendMailJob, { siteId }))
/** As `npm run portal -- mail` decides. */
const operator = () => {
  const secrets = createSecrets(portal.rootSecret)
  const { jobs, db } = portal.app
  const log = { warn: () => undefined } as unknown as Log
  return openMailOperator({
    db,
    clock,
    log,
    jobs,
    secrets,
    catalog: loadCatalog(portal.config.CATALOG),
    outbox: createEventOutbox(clock, () => undefined),
    mail: createOutbox({ jobs, clock, secrets }).mail,
    addressing: addressingOf(portal.config),
    portalUrl: portal.url,
  })
}
const texts = async (name: string): Promise<readonly string[]> =>
  (await dig(portal.config.DNS_PORT, { name, type: 'TXT', edns: 4096 })).answer.map((line) =>
    line.slice(line.indexOf(' TXT ') + ' TXT '.length),
  )
const rows = (of: MailServer, to: string) =>
  portal.app.db
    .selectFrom('site_mail')
    .selectAll()
    .where('site_id', '=', of.id)
    .where('recipient', '=', to)
    .execute()

/** The row of a recipient once it was tried so often, and is in nobody's hands. */
const tried = (of: MailServer, to: string, times: number) =>
  eventually(`try ${times} of ${to}`, async () => {
    const [row] = await rows(of, to)
    return row?.attempts === times && row.leased_until === null && row
  })

describe('a letter', () => {
  test('of a page arrives, from an address on the site’s own domain', async () => {
    const headers = 'From: Cà phê An <order@coffee.com.vn>\r\nX-Shop: 1'
    const mail = { to: 'khach@example.vn', subject: 'Đơn hàng số 9', body: 'Cảm ơn bạn!', headers }
    expect(await send(an, mail)).toBe(true)
    expect(await became(an, 'khach@example.vn', 'sent')).toMatchObject({
      from: 'order@coffee.com.vn',
      namedFrom: null,
      subject: 'Đơn hàng số 9',
      reason: null,
      said: null,
    })
    const [message] = await portal.inbox('khach@example.vn')
    expect(message?.text).toBe('Đơn hàng số 9\n\nCảm ơn bạn!')
    expect(await header('khach@example.vn', 'return-path')).toBe('<order@coffee.com.vn>')
    expect(await header('khach@example.vn', 'x-shop')).toBe('1')
    // Nothing of the text is kept once it is sent.
    const kept = await portal.app.db.selectFrom('site_letter').select('sealed').execute()
    expect(kept.map(({ sealed }) => sealed)).toEqual([null])
  })

  test('of a sender elsewhere comes from the site, who gets the answer is named', async () => {
    const headers = 'From: "Shop" <owner@gmail.com>\r\nBcc: hidden@example.vn'
    expect(await send(an, { to: 'binh@example.vn', subject: 'Hi', body: 'x', headers })).toBe(true)
    expect(await became(an, 'binh@example.vn', 'sent')).toMatchObject({
      from: 'wordpress@coffee.com.vn',
      namedFrom: 'owner@gmail.com',
    })
    expect(await header('binh@example.vn', 'from')).toBe('"Shop" <wordpress@coffee.com.vn>')
    expect(await header('binh@example.vn', 'reply-to')).toBe('owner@gmail.com')
    await became(an, 'hidden@example.vn', 'sent')
    expect((await raw('binh@example.vn')).toString()).not.toContain('hidden@example.vn')
  })

  test('never names another customer’s domain as its sender', async () => {
    const other = await server()
    await domainFor(other, 'rival.com.vn')
    for (const headers of [
      'From: boss@coffee.com.vn',
      'From: boss@coffee.com.vn\r\nFrom: me@rival.com.vn',
      'From: me@rival.com.vn <boss@coffee.com.vn>',
      'Sender: boss@coffee.com.vn',
    ]) {
      const to = `victim${headers.length}@example.vn`
      expect(await send(other, { to, headers, parameters: '-fboss@coffee.com.vn' })).toBe(true)
      await became(other, to, 'sent')
      expect(await header(to, 'return-path')).toBe('<wordpress@rival.com.vn>')
      expect(await header(to, 'from')).toBe('wordpress@rival.com.vn')
      expect(await header(to, 'sender')).toBeUndefined()
    }
    // Nor is it chosen.
    const chosen = await call(other, 'PUT', '/mail', { sender: 'boss@coffee.com.vn' })
    expect(chosen.status).toBe(422)
    expect((await state(other)).senderDomains).toEqual([
      'rival.com.vn',
      'www.rival.com.vn',
      `${other.name}.sites.example.net`,
    ])
  })

  test('comes from the sender that its owner chose, while that is the site’s', async () => {
    const chosen = await call(an, 'PUT', '/mail', { sender: 'xin-chao@coffee.com.vn' })
    expect(chosen.status, chosen.text).toBe(200)
    expect(await send(an, { to: 'chi@example.vn' })).toBe(true)
    await became(an, 'chi@example.vn', 'sent')
    expect(await header('chi@example.vn', 'from')).toBe('xin-chao@coffee.com.vn')
    expect((await call(an, 'PUT', '/mail', { sender: null })).status).toBe(200)
    expect(await state(an)).toMatchObject({
      enabled: true,
      suspended: null,
      sender: 'wordpress@coffee.com.vn',
      chosenSender: null,
      waiting: 0,
    })
  })

  test('that is taken and not yet confirmed when the portal ends arrives once', async () => {
    await portal.reopen({
      sitesGoOn: true,
      changeDrivers: (drivers) => ({
        ...drivers,
        wordpress: { ...drivers.wordpress, mailTaken: () => Promise.reject(new Error('killed')) },
      }),
    })
    expect(await send(an, { to: 'once@example.vn', subject: 'Once' })).toBe(true)
    await became(an, 'once@example.vn', 'sent')
    expect(await portal.drivers.wordpress.takeMail(an.id, 10)).toHaveLength(1)
    await portal.reopen({ sitesGoOn: true })
    await eventually(
      'the node told',
      async () => (await portal.drivers.wordpress.takeMail(an.id, 10)).length === 0,
    )
    expect(await rows(an, 'once@example.vn')).toHaveLength(1)
    expect(await portal.inbox('once@example.vn')).toHaveLength(1)
  })

  test('of which the relay’s answer is lost is sent again under the same Message-ID', async () => {
    const sent: string[] = []
    await portal.reopen({
      sitesGoOn: true,
      changeDrivers: (drivers) => ({
        ...drivers,
        mailer: {
          ...drivers.mailer,
          async relay(letter) {
            const outcome = await drivers.mailer.relay(letter)
            sent.push(/^Message-ID: (.*)$/m.exec(letter.raw.toString())?.[1] ?? '')
            return sent.length === 1 ? { outcome: 'later', why: 'the answer is lost' } : outcome
          },
        },
      }),
    })
    expect(await send(an, { to: 'twice@example.vn', subject: 'Twice' })).toBe(true)
    const waits = await eventually('the answer lost', async () =>
      (await log(an)).find(({ said }) => said === 'the answer is lost'),
    )
    expect([waits.state, waits.attempts]).toEqual(['waiting', 1])
    clock.advance(minutes(2))
    await wake(an)
    await became(an, 'twice@example.vn', 'sent')
    expect(sent).toHaveLength(2)
    expect(sent[0]).toMatch(/^<[\w.-]+@coffee\.com\.vn>$/)
    expect(sent[1]).toBe(sent[0])
    // So whoever gets both sees that they are one.
    expect(await portal.inbox('twice@example.vn')).toHaveLength(1)
    await portal.reopen({ sitesGoOn: true })
  })
})

describe('SPF, DKIM and DMARC', () => {
  const records = async (of = an): Promise<MailDomain[]> =>
    (await call<{ data: MailDomain[] }>(of, 'GET', '/mail/records')).body.result.data
  const stateOf = (domain: MailDomain | undefined): Record<string, string> =>
    Object.fromEntries((domain?.records ?? []).map(({ kind, state: of }) => [kind, of]))

  test('are written by one press where the zone is here; SPF stays one record', async () => {
    const zone = domainsOf(
      () => an.owner,
      () => portal,
    )
    await zone.add({ id: domainId } as never, {
      name: '@',
      type: 'TXT',
      content: 'v=spf1 include:_spf.google.com -all',
      proxied: false,
    })
    const [before] = await records()
    expect([before?.domain, before?.here]).toEqual(['coffee.com.vn', true])
    expect(stateOf(before)).toEqual({ spf: 'differs', dkim: 'missing', dmarc: 'missing' })
    const written = await call<MailDomain>(an, 'POST', '/mail/records', {
      domain: 'coffee.com.vn',
    })
    expect(written.status, written.text).toBe(200)
    expect(stateOf(written.body.result)).toEqual({ spf: 'found', dkim: 'found', dmarc: 'found' })
    expect(await texts('coffee.com.vn')).toEqual([
      'v=spf1 include:_spf.relay.example include:_spf.google.com -all',
    ])
    expect(await texts('_dmarc.coffee.com.vn')).toEqual(['v=DMARC1; p=none'])
    // Again changes nothing.
    const again = await call<MailDomain>(an, 'POST', '/mail/records', { domain: 'coffee.com.vn' })
    expect(again.body.result).toEqual(written.body.result)
    expect(await texts('coffee.com.vn')).toHaveLength(1)
  })

  test('the signature of a letter holds by the key in the zone', async () => {
    const headers = 'From: an@coffee.com.vn\r\nContent-Type: text/html; charset=UTF-8'
    const body = `<p>Xin chào ${'rất dài '.repeat(300)}</p>\n.\n..\n`
    expect(await send(an, { to: 'signed@example.vn', subject: 'Đã ký', body, headers })).toBe(true)
    await became(an, 'signed@example.vn', 'sent')
    const signature = await signatureOf(await raw('signed@example.vn'), texts)
    expect(signature?.domain).toBe('coffee.com.vn')
    // Another word, and it does not hold.
    const letter = (await raw('signed@example.vn')).toString('latin1')
    const altered = letter.replaceAll('an@coffee', 'on@coffee')
    expect(await signatureOf(Buffer.from(altered, 'latin1'), texts)).toBeUndefined()
  })

  test('beside an alias only what may stand is written', async () => {
    const [, www] = await records()
    expect([www?.domain, stateOf(www)['spf']]).toEqual(['www.coffee.com.vn', 'alias'])
    const written = await call<MailDomain>(an, 'POST', '/mail/records', {
      domain: 'www.coffee.com.vn',
    })
    expect(written.status, written.text).toBe(200)
    expect(stateOf(written.body.result)).toEqual({ spf: 'alias', dkim: 'found', dmarc: 'found' })
  })

  test('of a zone elsewhere are shown, and not written', async () => {
    const name = 'elsewhere.example.org'
    dns.records.set(`CNAME ${name}`, [`${an.name}.sites.example.net`])
    const put = await call(an, 'PUT', '/domain', {
      id: an.id,
      name: an.name,
      domains: ['coffee.com.vn', 'www.coffee.com.vn', name],
    })
    expect(put.status, put.text).toBe(200)
    const shown = (await records()).find(({ domain }) => domain === name)
    expect([shown?.here, stateOf(shown)]).toEqual([
      false,
      { spf: 'alias', dkim: 'missing', dmarc: 'missing' },
    ])
    const refused = await call(an, 'POST', '/mail/records', { domain: name })
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('managed elsewhere')
    expect((await call(an, 'POST', '/mail/records', { domain: 'rival.com.vn' })).status).toBe(404)
    // Its owner writes them there.
    for (const record of shown?.records ?? [])
      if (record.kind !== 'spf') dns.records.set(`TXT ${record.name}`, [record.value])
    expect(stateOf((await records()).find(({ domain }) => domain === name))).toEqual({
      spf: 'alias',
      dkim: 'found',
      dmarc: 'found',
    })
  })

  test('letters of a server without a domain are signed by the sites’ domain', async () => {
    const plain = await server()
    expect(await send(plain, { to: 'plain@example.vn' })).toBe(true)
    await became(plain, 'plain@example.vn', 'sent')
    const host = `${plain.name}.sites.example.net`
    expect(await header('plain@example.vn', 'from')).toBe(`wordpress@${host}`)
    expect(await header('plain@example.vn', 'dkim-signature')).toContain('d=sites.example.net;')
    expect(await records(plain)).toEqual([])
  })
})

describe('what may not be sent', () => {
  test('an address that is refused is noted with what the mail server said', async () => {
    expect(await send(an, { to: 'nobody@bounce.example, real@example.vn' })).toBe(true)
    expect(await became(an, 'nobody@bounce.example', 'bounced')).toMatchObject({
      said: expect.stringContaining('550 5.1.1 No such user here') as string,
      nextAt: null,
    })
    await became(an, 'real@example.vn', 'sent')
  })

  test('over the hour’s limit letters wait, and their owner is told once', async () => {
    const busy = await server()
    for (let at = 0; at < limit + 3; at++)
      expect(await send(busy, { to: `many${at}@example.vn` })).toBe(true)
    await eventually('the limit reached', async () => {
      const now = await state(busy)
      return now.hour.used === limit && now.waiting === 3
    })
    const waiting = (await log(busy)).filter((one) => one.state === 'waiting')
    await eventually(
      'why',
      async () => (await log(busy)).filter((one) => one.reason === 'hour_limit').length === 3,
    )
    expect(waiting).toHaveLength(3)
    const letters = async () =>
      (await portal.inbox(busy.owner.email)).filter(({ text }) => /hạn mức giờ/.test(text))
    await eventually('a letter', async () => (await letters()).length === 1)
    clock.advance(hours(1) + minutes(1))
    await eventually('the rest sent', async () => {
      await wake(busy)
      return (await state(busy)).waiting === 0
    })
    expect(await letters()).toHaveLength(1)
    const { body } = await portal.call<{ data: { event: string; title: string }[] }>(
      'GET',
      '/api/notifications',
      { token: busy.owner.token },
    )
    expect(
      body.result.data.filter(({ event }) => event === 'wordpress.mail').map(({ title }) => title),
    ).toEqual([`E-mails of ${busy.name} wait for the hourly limit`])
  })

  test('of far too many the rest waits at the node, where mail() says no in the end', async () => {
    const flood = await server()
    const many = (from: number): string =>
      Array.from({ length: 50 }, (_, at) => `m${from + at}@later.example`).join(',')
    for (let at = 0; at < 3; at++) expect(await send(flood, { to: many(at * 50) })).toBe(true)
    const taken = async (): Promise<number> =>
      (
        await portal.app.db
          .selectFrom('site_mail')
          .select('id')
          .where('site_id', '=', flood.id)
          .execute()
      ).length
    await eventually('all taken', async () => (await taken()) === 150)
    // Five times the plan's limit is reached: what comes now stays where it is.
    expect(await send(flood, { to: 'late@example.vn' })).toBe(true)
    await portal.app.mailCollector.collect()
    expect(await rows(flood, 'late@example.vn')).toEqual([])
    clock.advance(hours(1) + minutes(1))
    await eventually(
      'the rest taken',
      async () => (await rows(flood, 'late@example.vn')).length > 0,
    )
  })

  test('a switch that is off says no to PHP, and drops what waits', async () => {
    expect(await send(an, { to: 'waits@later.example' })).toBe(true)
    await became(an, 'waits@later.example', 'waiting')
    expect((await call(an, 'PUT', '/mail', { enabled: false })).status).toBe(200)
    expect(await became(an, 'waits@later.example', 'refused')).toMatchObject({ reason: 'off' })
    await eventually('mail() says no', async () => !(await send(an, { to: 'late@example.vn' })))
    expect((await call(an, 'PUT', '/mail', { enabled: true })).status).toBe(200)
    await eventually('mail() says yes', () => send(an, { to: 'again@example.vn' }))
    await became(an, 'again@example.vn', 'sent')
  })

  test('a site whose letters bounce is suspended, told, and resumed by an operator', async () => {
    const bad = await server()
    for (let at = 0; at < 10; at++)
      expect(await send(bad, { to: `nobody${at}@bounce.example` })).toBe(true)
    await eventually('suspended', async () => (await state(bad)).suspended?.cause === 'bounces')
    await eventually('mail() says no', async () => !(await send(bad, { to: 'x@example.vn' })))
    const letter = await eventually('a letter', async () =>
      (await portal.inbox(bad.owner.email)).find(({ text }) => /tạm ngưng gửi email/.test(text)),
    )
    expect(letter.text).toContain(`/wordpress/${bad.id}?tab=mail`)
    const metrics = await (await fetch(`${portal.url}/metrics`)).text()
    expect(metrics).toMatch(/^portal_site_mail_suspended 1$/m)
    // Once he has found the form that did it.
    expect(await operator().resume(bad.name)).toBe(true)
    expect(await operator().resume(bad.name)).toBe(false)
    expect(await operator().resume('no-such-server')).toBeUndefined()
    expect((await state(bad)).suspended).toBeNull()
    await eventually('mail() says yes', () => send(bad, { to: 'better@example.vn' }))
    await became(bad, 'better@example.vn', 'sent')
    // What bounced before does not count any more.
    expect(await send(bad, { to: 'nobody@bounce.example' })).toBe(true)
    await became(bad, 'nobody@bounce.example', 'bounced')
    expect((await state(bad)).suspended).toBeNull()
    const note = 'Three people wrote to us.'
    expect(await operator().suspend(bad.id, { cause: 'complaint', note })).toBe(true)
    expect((await state(bad)).suspended).toMatchObject({ cause: 'complaint', note })
  })

  test('whose server is deleted is gone with it', async () => {
    const gone = await server()
    expect(await send(gone, { to: 'left@later.example' })).toBe(true)
    await became(gone, 'left@later.example', 'waiting')
    expect((await call(gone, 'DELETE')).status).toBe(200)
    for (const table of ['site_letter', 'site_mail', 'site_mail_key'] as const)
      await eventually(`${table} empty`, async () => {
        const left = await portal.app.db
          .selectFrom(table)
          .select('id')
          .where('site_id', '=', gone.id)
          .execute()
        return left.length === 0
      })
  })

  describe('that was put off waits', () => {
    let poor: MailServer
    const put = (values: { status?: string; held_at?: Date | null }): Promise<unknown> =>
      portal.app.db.updateTable('site').set(values).where('id', '=', poor.id).execute()
    const add = (name: string, payload: object): Promise<unknown> =>
      transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, name, payload))
    const subscription = async () => {
      const { db } = portal.app
      const row = await db
        .selectFrom('site')
        .select(['status', 'subscription_id as subscriptionId'])
        .where('id', '=', poor.id)
        .executeTakeFirstOrThrow()
      return { status: row.status, payload: { subscriptionId: row.subscriptionId } }
    }
    /** The job that was to come comes now, and does nothing. */
    async function jobsDoNothing(): Promise<void> {
      await sql`update pgboss.job set start_after = now()
        where name = ${sendMailJob} and data ->> 'siteId' = ${poor.id}`.execute(portal.app.db)
      await wake(poor)
      await jobsIdle(portal.app.db)
      await tried(poor, 'patient@later.example', 1)
    }
    beforeEach(async () => {
      poor = await server()
      expect(await send(poor, { to: 'patient@later.example' })).toBe(true)
      await tried(poor, 'patient@later.example', 1)
      await jobsIdle(portal.app.db)
    })

    test('while its server is suspended, and goes on at once when it is back', async () => {
      await put({ held_at: clock.now() })
      await add(alignJobs.suspend, (await subscription()).payload)
      await eventually('held', async () => (await subscription()).status === 'suspended')
      clock.advance(minutes(5))
      await jobsDoNothing()
      await put({ held_at: null })
      await add(alignJobs.resume, (await subscription()).payload)
      await tried(poor, 'patient@later.example', 2)
    })

    test('while its server is set up, and goes on at once when it runs', async () => {
      await put({ status: 'provisioning' })
      clock.advance(minutes(5))
      await jobsDoNothing()
      await add(provisionJob, { siteId: poor.id })
      await tried(poor, 'patient@later.example', 2)
    })
  })

  test('belongs to others: their server’s mail is unknown', async () => {
    const stranger = { ...an, owner: await portal.customer() }
    for (const [method, rest, body] of [
      ['GET', '/mail'],
      ['PUT', '/mail', { enabled: false }],
      ['GET', '/mail/records'],
      ['POST', '/mail/records', { domain: 'coffee.com.vn' }],
      ['GET', '/mail/messages'],
    ] as const)
      expect((await call(stranger, method, rest, body)).status, rest).toBe(404)
    expect((await state(an)).enabled).toBe(true)
    for (const body of [{ sender: 'x' }, { sender: 'a@b c' }, { other: 1 }, { enabled: 'yes' }])
      expect((await call(an, 'PUT', '/mail', body)).status).toBe(422)
  })

  test('one that is put off is tried for two days, and given up', async () => {
    expect(await send(an, { to: 'busy@later.example' })).toBe(true)
    const first = await became(an, 'busy@later.example', 'waiting')
    await tried(an, 'busy@later.example', 1)
    expect(first.nextAt).not.toBeNull()
    expect((await state(an)).waiting).toBe(1)
    for (let hour = 0; hour < 60; hour += 5) {
      clock.advance(hours(5))
      await wake(an)
      const row = await tried(an, 'busy@later.example', hour / 5 + 2)
      if (row.state === 'failed') break
    }
    // The session is over by then.
    an = { ...an, owner: await portal.signIn(an.owner) }
    expect(await became(an, 'busy@later.example', 'failed')).toMatchObject({
      said: expect.stringContaining('451') as string,
    })
    const [row] = await rows(an, 'busy@later.example')
    expect(row!.settled_at!.getTime() - row!.created_at.getTime()).toBeGreaterThan(days(2) - 1)
    expect(row!.settled_at!.getTime() - row!.created_at.getTime()).toBeLessThan(days(2.5))
  })
})

test('the log comes page by page, newest first', async () => {
  const all = await log(an, '?limit=100')
  const paged: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = `?limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`
    const answer: Answer<{ id: string }[]> = await call(an, 'GET', `/mail/messages${query}`)
    paged.push(...answer.body.result.map(({ id }) => id))
    cursor = (answer.body as { page?: { next: string | null } }).page?.next ?? null
  }
  expect(paged).toEqual(all.map(({ id }) => id))
})

test('after thirty days nothing of it is left', async () => {
  clock.advance(days(27))
  await dropOldMail(portal.app.db, clock)
  const count = async (table: 'site_letter' | 'site_mail'): Promise<number> =>
    (await portal.app.db.selectFrom(table).select('id').execute()).length
  expect(await count('site_mail')).toBeGreaterThan(0)
  clock.advance(days(4))
  await dropOldMail(portal.app.db, clock)
  expect([await count('site_letter'), await count('site_mail')]).toEqual([0, 0])
})
