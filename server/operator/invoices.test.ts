/** An invoice at the desk: read by the staff with its PDF, and no public address is told. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Invoice } from '../../contract/billing.ts'
import type { CustomerStory, Hit } from '../../contract/operator-desk.ts'
import type { InvoiceAtDesk } from '../../contract/operator-invoices.ts'
import type { OverdueInvoice } from '../../contract/operator-overview.ts'
import { rolesThatMay, staffRoles } from '../../contract/staff-roles.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
let finance: TestMember
let an: TestCustomer
/** As its customer reads it. */
let own: Invoice
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  finance = await newMember(portal, 'finance', { clock })
  an = await portal.customer()
  await portal.topUp(an, 300_000)
  const { id } = await orderServer(portal, an)
  const { subscription_id: subscription } = await portal.app.db
    .selectFrom('site')
    .select('subscription_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await portal.call('POST', `/api/subscriptions/${subscription}/cancel`, {
    token: an.token,
    body: { when: 'now' },
  })
  const listed = await portal.call<Invoice[]>('GET', '/api/payments/stripe/invoices', {
    token: an.token,
  })
  own = listed.body.result.find(({ kind }) => kind === 'order')!
})
afterAll(() => portal.close())

const read = (id: string) => finance.call<InvoiceAtDesk>('GET', `/api/operator/invoices/${id}`)

test('finance reads what the customer reads, what paid it and what was given back', async () => {
  const answer = await read(own.id)
  const { invoice_pdf: _pdf, hosted_invoice_url: _hosted, ...shown } = own
  expect(answer.body.result).toMatchObject({
    invoice: shown,
    customer: { id: an.id, email: an.email },
    buyer: { email: an.email },
    entries: [{ amount: -own.total }],
  })
  // Public addresses outlive the member's session.
  expect(answer.text).not.toMatch(/\/api\/invoices\/|\/invoice\/hosted\//)
  const [note] = answer.body.result.creditNotes
  expect(note?.total).toBeLessThan(0)
  const credited = (await read(note?.id ?? '')).body.result
  expect(credited).toMatchObject({
    invoice: { kind: 'credit', corrects: { id: own.id, number: own.number }, total: note?.total },
    entries: [{ amount: -(note?.total ?? 0) }],
    creditNotes: [],
  })
})

test('its PDF is a file of the desk, in either language', async () => {
  for (const lang of ['en', 'vi']) {
    const path = `/api/operator/invoices/${own.id}/pdf?lang=${lang}`
    const pdf = await fetch(`${portal.url}${path}`, { headers: finance.headers })
    expect(pdf.status).toBe(200)
    expect(pdf.headers.get('content-type')).toBe('application/pdf')
    expect(pdf.headers.get('content-disposition')).toContain(`${own.number}.pdf`)
    expect(pdf.headers.get('cache-control')).toContain('no-store')
    expect(Buffer.from(await pdf.arrayBuffer()).toString('latin1')).toMatch(/^%PDF-/)
  }
})

test('the roles that may read customers read it; nobody else, and nothing unknown', async () => {
  const paths = [own.id, `${own.id}/pdf`].map((end) => `/api/operator/invoices/${end}`)
  for (const role of staffRoles) {
    const member = await newMember(portal, role, { clock })
    const due = rolesThatMay.look.includes(role) ? 200 : 403
    for (const path of paths)
      expect([role, (await member.call('GET', path)).status]).toEqual([role, due])
  }
  for (const path of paths) {
    expect((await portal.call('GET', path)).status).toBe(401)
    expect((await portal.call('GET', path, { token: an.token })).status).toBe(401)
  }
  for (const id of ['00000000-0000-4000-8000-000000000000', 'x']) {
    expect((await read(id)).status).toBe(404)
    expect((await read(`${id}/pdf`)).status).toBe(404)
  }
})

test('a draft without a number is read as well, and a search hit names its invoice', async () => {
  const binh = await portal.customer()
  await portal.call('POST', '/api/wp', {
    token: binh.token,
    body: {
      size: 1,
      region: 1,
      disk: 10_240,
      mariadb_disk_size: 10_240,
      user: 'an',
      password: 'Mat-khau-9!',
      replicate: 1,
    },
  })
  const { invoices } = (
    await finance.call<CustomerStory>('GET', `/api/operator/customers/${binh.id}`)
  ).body.result
  const draft = (await read(invoices[0]?.id ?? '')).body.result
  expect(draft).toMatchObject({ invoice: { number: null, status: 'open' }, entries: [] })
  const hits = await finance.call<Hit[]>('GET', `/api/operator/search?q=${own.number}`)
  expect(hits.body.result).toMatchObject([{ kind: 'invoice', text: own.number, invoice: own.id }])
})

test('what is overdue is opened by its id', async () => {
  const cuong = await portal.customer()
  await portal.topUp(cuong, 300_000)
  await orderServer(portal, cuong)
  clock.advance(days(31))
  await portal.app.bills.sweep()
  finance = await newMember(portal, 'finance', { clock })
  const overdue = await finance.call<OverdueInvoice[]>('GET', '/api/operator/overdue-invoices')
  const [first] = overdue.body.result
  expect((await read(first?.id ?? '')).body.result).toMatchObject({
    invoice: { status: 'open', amount_due: first?.total, number: first?.number },
    customer: { id: cuong.id },
  })
})
