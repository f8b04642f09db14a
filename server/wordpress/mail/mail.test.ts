/** E-mail of servers, from a page's mail() to the inbox, and what is stored of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestDns } from '../../../test/dns-server.ts'
import { mailServersOf, openMailPortal, type MailServer } from '../../../test/mail-world.ts'
import { eventually, manualClock, type Answer, type TestPortal } from '../../../test/portal.ts'
import { days, minutes } from '../../platform/clock.ts'
import { dropOldMail } from './store.ts'

const clock = manualClock()
let dns: TestDns
let portal: TestPortal
let an: MailServer
beforeAll(async () => {
  ;({ dns, portal } = await openMailPortal({ clock }))
  an = await server()
  await domainFor(an, 'coffee.com.vn')
})
afterAll(async () => {
  await portal.close()
  await dns.close()
})

const { call, server, send, state, log, became, rows, wake, raw, header, domainFor } =
  mailServersOf(() => portal)

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
    // The text is deleted once it is sent.
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
    // Nor can the owner choose such a sender.
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
    // The same Message-ID shows a recipient of both that they are one letter.
    expect(await portal.inbox('twice@example.vn')).toHaveLength(1)
    await portal.reopen({ sitesGoOn: true })
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
