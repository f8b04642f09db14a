/** Letters of a site whose relay is so slow that another worker takes them over. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestDns } from '../../../test/dns-server.ts'
import { mailServersOf, openMailPortal, type MailServer } from '../../../test/mail-world.ts'
import { eventually, manualClock, type TestPortal } from '../../../test/portal.ts'
import { minutes } from '../../platform/clock.ts'
import { transaction } from '../../platform/db.ts'
import { sendMailJob } from './store.ts'

const clock = manualClock()
let dns: TestDns
let portal: TestPortal
let an: MailServer
/** Recipients in the order in which the relay was asked. */
const asked: string[] = []
/** While set, the relay answers to nobody who asks for the first time. */
let hold: PromiseWithResolvers<void> | undefined

beforeAll(async () => {
  ;({ dns, portal } = await openMailPortal({
    clock,
    changeDrivers: (drivers) => ({
      ...drivers,
      mailer: {
        ...drivers.mailer,
        async relay(letter) {
          asked.push(letter.to)
          if (asked.length === 1) await hold?.promise
          // Keeps the letter's text here.
          if (letter.to === 'four@example.vn') return { outcome: 'later', why: 'busy' }
          return await drivers.mailer.relay(letter)
        },
      },
    }),
  }))
  an = await server()
  await domainFor(an, 'coffee.com.vn')
})
afterAll(async () => {
  hold?.resolve()
  await portal.close()
  await dns.close()
})
const { server, send, became, domainFor } = mailServersOf(() => portal)

test('a worker that was overtaken sends none of its letters again', async () => {
  const recipients = ['one@example.vn', 'two@example.vn', 'three@example.vn', 'four@example.vn']
  const { db, jobs } = portal.app
  hold = Promise.withResolvers()
  const headers = `From: order@coffee.com.vn\r\nCc: ${recipients.slice(1).join(', ')}`
  expect(await send(an, { to: 'one@example.vn', subject: 'x', body: 'x', headers })).toBe(true)
  const rowsOf = (state: string) =>
    db.selectFrom('site_mail').select('id').where('state', '=', state).execute()
  await eventually('the first letter at the relay', async () => asked.length === 1)
  expect(await rowsOf('waiting')).toHaveLength(4)
  // The lease of all is over, and another worker takes them.
  clock.advance(minutes(6))
  await transaction(db, (tx) => jobs.add(tx, sendMailJob, { siteId: an.id }))
  await eventually('the others sent', async () => (await rowsOf('sent')).length === 3)
  hold.resolve()
  await eventually('the first worker done', async () => {
    const { rows } = await sql`select from pgboss.job
      where name = ${sendMailJob} and state = 'active'`.execute(db)
    return rows.length === 0
  })
  for (const to of recipients.slice(1, 3)) await became(an, to, 'sent')
  // Only the one that the relay had in hand went there twice.
  expect(asked.toSorted()).toEqual(['one@example.vn', ...recipients].toSorted())
})

test('a worker that is told to stop gives back what it has not begun', async () => {
  const recipients = ['five@example.vn', 'six@example.vn', 'seven@example.vn']
  const { db, jobs } = portal.app
  asked.length = 0
  hold = Promise.withResolvers()
  const headers = `From: order@coffee.com.vn\r\nCc: ${recipients.slice(1).join(', ')}`
  expect(await send(an, { to: 'five@example.vn', subject: 'x', body: 'x', headers })).toBe(true)
  await eventually('the first letter at the relay', async () => asked.length === 1)
  const stopped = jobs.stop()
  hold.resolve()
  await stopped
  const rows = await db
    .selectFrom('site_mail')
    .select(['attempts', 'leased_until', 'state'])
    .where('recipient', 'in', recipients)
    .orderBy('id')
    .execute()
  expect(rows).toEqual([
    { attempts: 1, leased_until: null, state: 'sent' },
    { attempts: 0, leased_until: null, state: 'waiting' },
    { attempts: 0, leased_until: null, state: 'waiting' },
  ])
})
