/**
 * Letters that come back after they were sent: from the sandbox's mail server, and from forgers.
 */
import { createTransport, type Transporter } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mailServersOf, type MailServer } from '../../../test/mail-world.ts'
import {
  eventually,
  freePort,
  manualClock,
  openTestPortal,
  type TestPortal,
} from '../../../test/portal.ts'
import { days } from '../../platform/clock.ts'
import { dropOldMail } from './store.ts'

let portal: TestPortal
let an: MailServer
let mailServer: Transporter
const clock = manualClock()
const domain = 'returned.example.net'
beforeAll(async () => {
  const port = await freePort()
  portal = await openTestPortal({
    clock,
    env: {
      SITES_DOMAIN: 'sites.example.net',
      SITE_MAIL_REPORTS: domain,
      SITE_MAIL_REPORTS_PORT: String(port),
    },
  })
  an = await server()
  mailServer = createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
})
afterAll(async () => {
  mailServer?.close()
  await portal?.close()
})
const { call, server, send, state, log, became, header } = mailServersOf(() => portal)

/** The envelope sender of a letter that arrived. */
const returnPathOf = async (to: string): Promise<string> =>
  (await header(to, 'return-path'))?.replace(/^<|>$/g, '') ?? ''
const report = (status = '5.1.1'): string =>
  [
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    '',
    'Action: failed',
    `Status: ${status}`,
    `Diagnostic-Code: smtp; 550 ${status} Gone`,
    '--b--',
    '',
  ].join('\r\n')
/** The portal's SMTP answer to a letter. */
const deliver = (
  to: string | string[],
  of: { from?: string; raw?: string } = {},
): Promise<string> =>
  mailServer.sendMail({ envelope: { from: of.from ?? '', to }, raw: of.raw ?? report() }).then(
    ({ response }) => response as string,
    (error: unknown) => (error as { response?: string }).response ?? String(error),
  )
const arrived = async (to: string, from = an): Promise<string> => {
  expect(await send(from, { to, subject: 'Đơn hàng' })).toBe(true)
  await became(from, to, 'sent')
  return await returnPathOf(to)
}

describe('a letter that comes back', () => {
  test('is shown with code and reason, and its address gets nothing more for a month', async () => {
    expect(await send(an, { to: 'lan@returns.example', subject: 'Đơn hàng số 9' })).toBe(true)
    const back = await became(an, 'lan@returns.example', 'bounced')
    expect(back).toMatchObject({
      subject: 'Đơn hàng số 9',
      said: '550 5.1.1 No such user here',
      returnedAt: clock.now().toISOString(),
    })
    expect((await state(an)).hour.used).toBe(1)
    // Readers see the site as the sender; mail servers see the signed address.
    expect(await header('lan@returns.example', 'from')).toContain(`@${an.name}.sites.example.net`)
    expect(await returnPathOf('lan@returns.example')).toMatch(
      new RegExp(`^returned-[0-9a-z]+-[0-9a-f]{20}@${domain}$`),
    )
    expect(await send(an, { to: 'LAN@returns.example', subject: 'Lần hai' })).toBe(true)
    expect(await became(an, 'LAN@returns.example', 'refused')).toMatchObject({
      reason: 'recipient_returned',
      attempts: 0,
    })
    // The address still gets letters of another server.
    const other = await server(an.owner)
    expect(await send(other, { to: 'lan@returns.example' })).toBe(true)
    await became(other, 'lan@returns.example', 'bounced')
    clock.advance(days(30) + 1)
    an = { ...an, owner: await portal.signIn(an.owner) }
    await dropOldMail(portal.app.db, clock)
    expect(await portal.app.db.selectFrom('site_mail_suppressed').selectAll().execute()).toEqual([])
    expect(await send(an, { to: 'lan@returns.example', subject: 'Tháng sau' })).toBe(true)
    await became(an, 'lan@returns.example', 'bounced')
  })

  test('for another reason leaves its address out for a day', async () => {
    expect(await send(an, { to: 'spam@returns.example' })).toBe(true)
    expect((await became(an, 'spam@returns.example', 'bounced')).said).toContain('5.7.1')
    expect(await send(an, { to: 'spam@returns.example' })).toBe(true)
    await became(an, 'spam@returns.example', 'refused')
    clock.advance(days(1) + 1)
    an = { ...an, owner: await portal.signIn(an.owner) }
    expect(await send(an, { to: 'spam@returns.example', subject: 'again' })).toBe(true)
    await eventually('sent again', async () => {
      const [newest] = await log(an)
      return newest?.subject === 'again' && newest.state === 'bounced'
    })
  })

  test('after it was tried in vain is given up; one that is late is still under way', async () => {
    expect(await send(an, { to: 'full@returns.example' })).toBe(true)
    expect((await became(an, 'full@returns.example', 'failed')).said).toContain('4.2.2')
    expect(await send(an, { to: 'full@returns.example', subject: 'again' })).toBe(true)
    await eventually('sent again, for it is no matter of the address', async () => {
      const [newest] = await log(an)
      return newest?.subject === 'again' && newest.state === 'failed'
    })
    expect(await send(an, { to: 'late@returns.example' })).toBe(true)
    await became(an, 'late@returns.example', 'sent')
    const late = await returnPathOf('late@returns.example')
    const raw = report().replace('failed', 'delayed')
    expect(await deliver(late, { raw })).toContain('250')
    expect(await became(an, 'late@returns.example', 'sent')).toMatchObject({ returnedAt: null })
  })

  test('is sent again once its owner says so', async () => {
    const address = 'binh@returns.example'
    expect(await send(an, { to: address })).toBe(true)
    await became(an, address, 'bounced')
    const stranger = { ...an, owner: await portal.customer() }
    expect((await call(stranger, 'POST', '/mail/recipients', { address })).status).toBe(404)
    expect((await call(an, 'POST', '/mail/recipients', { address: 'x' })).status).toBe(404)
    expect((await call(an, 'POST', '/mail/recipients', { address })).status).toBe(200)
    expect((await call(an, 'POST', '/mail/recipients', { address })).status).toBe(404)
    expect(await send(an, { to: address, subject: 'again' })).toBe(true)
    await eventually('sent again', async () => {
      const [newest] = await log(an)
      return newest?.subject === 'again' && newest.state === 'bounced'
    })
  })

  test('changes its entry once, whoever reports it again', async () => {
    const path = await arrived('once@example.vn')
    expect(await deliver(path.toUpperCase())).toContain('250')
    const [first] = (await log(an)).filter(({ to }) => to === 'once@example.vn')
    expect(first).toMatchObject({ state: 'bounced', said: '550 5.1.1 Gone' })
    clock.advance(1_000)
    expect(await deliver(path, { raw: report('4.2.2') })).toContain('250')
    expect((await log(an)).filter(({ to }) => to === 'once@example.vn')).toEqual([first])
  })
})

describe('a report', () => {
  test('that is forged changes nothing, and is not taken', async () => {
    const path = await arrived('safe@example.vn')
    const [, number = ''] = path.split('-')
    for (const to of [
      path.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@')),
      `returned-${number}-${'0'.repeat(20)}@${domain}`,
      `returned-${number}@${domain}`,
      `wordpress@${an.name}.sites.example.net`,
      'somebody@elsewhere.example',
    ])
      expect(await deliver(to), to).toMatch(/^550 5\.1\.1/)
    // A letter has an envelope sender; a report has none.
    expect(await deliver(path, { from: 'boss@bank.example' })).toMatch(/^550 5\.7\.1/)
    // One report is about one letter: the second recipient is refused.
    const second = await arrived('second@example.vn')
    expect(await deliver([second, path])).toContain('250')
    expect(await became(an, 'safe@example.vn', 'sent')).toMatchObject({ returnedAt: null })
    expect((await log(an)).find(({ to }) => to === 'second@example.vn')?.state).toBe('bounced')
  })

  test('that is none, or endless, changes nothing either', async () => {
    const path = await arrived('calm@example.vn')
    const away = 'Subject: I am away\r\nAuto-Submitted: auto-replied\r\n\r\nUntil Monday.\r\n'
    expect(await deliver(path, { raw: away })).toContain('250')
    const endless = `${report()}${`${'x'.repeat(998)}\r\n`.repeat(17_000)}`
    expect(await deliver(path, { raw: endless })).toMatch(/^552 5\.3\.4/)
    expect(await became(an, 'calm@example.vn', 'sent')).toMatchObject({ returnedAt: null })
    // It is read even with the returned letter behind it, as long as a site may send one.
    const long = `${report()}${`${'x'.repeat(998)}\r\n`.repeat(10_000)}`
    expect(await deliver(path, { raw: long })).toContain('250')
    await became(an, 'calm@example.vn', 'bounced')
  })

  test('of one letter is taken some times, and not for ever', async () => {
    const path = await arrived('often@example.vn')
    const raw = report().replace('failed', 'delayed')
    for (let times = 0; times < 20; times++) expect(await deliver(path, { raw })).toContain('250')
    expect(await deliver(path)).toMatch(/^450 4\.7\.1/)
    expect(await became(an, 'often@example.vn', 'sent')).toMatchObject({ returnedAt: null })
    // A report about another letter is accepted.
    expect(await deliver(await arrived('other@example.vn'))).toContain('250')
  })

  test('of a letter that nobody knows any more is taken, and no matter', async () => {
    const path = await arrived('gone@example.vn')
    await portal.app.db
      .deleteFrom('site_letter')
      .where('site_id', '=', an.id)
      .where('subject', '=', 'Đơn hàng')
      .execute()
    expect(await deliver(path)).toContain('250')
  })
})

test('ten that come back suspend the site’s mail, as ten that are refused do', async () => {
  const bad = await server()
  for (let at = 0; at < 10; at++)
    expect(await send(bad, { to: `nobody${at}@returns.example` })).toBe(true)
  await eventually('suspended', async () => (await state(bad)).suspended?.cause === 'bounces')
  await eventually('mail() says no', async () => !(await send(bad, { to: 'x@example.vn' })))
})
