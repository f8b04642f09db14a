/**
 * The problems of the night at the provider of an operator's day, and what customers ask about
 * them.
 */
import { sql } from 'kysely'
import { payers } from '../test/payers.ts'
import { eventually, type TestPortal } from '../test/portal.ts'
import type { OrderedServer } from '../test/ordered-servers.ts'
import type { TestMember } from '../test/staff.ts'
import { stepOf, totpAt } from '../server/auth/totp.ts'
import type { Outside, Person, Role, Who } from './day-provider.ts'

interface Ordered {
  readonly id: string
  readonly name: string
}
export interface Trouble {
  /** The bank's reference of Hoa's transfer, and her newest invoice. */
  readonly bankReference: string
  readonly invoice: string
  /** Two paid orders whose servers did not start: Phúc's and Thảo's. */
  readonly stuck: Ordered
  readonly hopeless: Ordered
  /** A top-up of Dũng's whose webhook was received but not handled. */
  readonly webhook: string
}
interface Needs {
  readonly portal: TestPortal
  readonly outside: Outside
  readonly customers: Readonly<Record<Who, Person>>
  readonly emma: Person
  readonly staff: Readonly<Record<Role, TestMember>>
  readonly server: OrderedServer
}

const form = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'chu',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const reason = 'Seen by the night shift'

async function must<T>(what: string, call: ReturnType<TestMember['call']>): Promise<T> {
  const answer = await call
  if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${answer.text}`)
  return answer.body.result as T
}

/** A transfer to the provider's account; returns the bank's reference. */
async function transfer(portal: TestPortal, amount: number, content: string): Promise<string> {
  const account = portal.keysOf('bank')['accountNumber'] ?? ''
  const receipt = await fetch(`${portal.sandboxUrl}/bank/app`, {
    method: 'POST',
    body: new URLSearchParams({ account, amount: String(amount), content, feed: 'sepay' }),
  })
  const reference = /MBVCB\.\d+/.exec(await receipt.text())?.[0]
  if (reference === undefined) throw new Error('the bank gave no receipt')
  return reference
}

/** Hoa pays by bank transfer, and has invoices. */
async function callerOf({ portal, customers: { hoa } }: Needs) {
  const { token } = hoa
  const { transactionCode } = await must<{ transactionCode: string }>(
    'a transfer is begun',
    portal.call('POST', '/api/payments/checkout', {
      token,
      body: { amount: 450_000, type: 1, method: 'BANKTRANSFER' },
    }),
  )
  const { content } = await must<{ content: string }>(
    'its text',
    portal.call('GET', `/api/payments/transfer?transactionCode=${transactionCode}`, { token }),
  )
  const bankReference = await transfer(portal, 450_000, content)
  await portal.call('POST', '/api/dns', { token, body: { name: 'tiemhoa-hanoi.vn' } })
  const invoice = await eventually('an invoice', async () => {
    const invoices = await portal.call<{ number: string | null }[]>(
      'GET',
      '/api/payments/stripe/invoices',
      { token },
    )
    return invoices.body.result[0]?.number ?? undefined
  })
  return { bankReference, invoice }
}

/** Paid orders in a data centre whose disks do not answer tonight. */
async function stuckOrders({ portal, outside, customers, staff }: Needs): Promise<Ordered[]> {
  outside.disksAway = true
  const orders: Ordered[] = []
  for (const { token } of [customers.phuc, customers.thao]) {
    const { id } = await must<{ id: string }>(
      'an order',
      portal.call('POST', '/api/wp', { token, body: form }),
    )
    const order = await eventually('the order is stuck', async () => {
      const { body } = await staff.operations.call<(Ordered & { why: string | null })[]>(
        'GET',
        '/api/operator/servers?state=setting_up',
      )
      return body.result.find((one) => one.id === id && one.why !== null)
    })
    // The next attempt is an hour away, as after many attempts; otherwise the order would have four
    // within seconds.
    await sql`update pgboss.job set start_after = now() + interval '1 hour'
      where state = 'retry' and data ->> 'siteId' = ${id}`.execute(portal.app.db)
    orders.push(order)
  }
  return orders
}

async function disputes({ portal, emma, staff }: Needs): Promise<void> {
  const { stripe } = payers
  if (!stripe) throw new Error('nobody pays by Stripe')
  for (const round of [1, 2]) {
    const begun = await stripe.begin(portal, emma)
    await begun.pay()
    const paid = await eventually('the card pays', async () => {
      const row = await portal.app.db
        .selectFrom('payment')
        .select(['provider_ref', 'status'])
        .where('code', '=', begun.code)
        .executeTakeFirstOrThrow()
      return row.status === 'succeeded' ? (row.provider_ref ?? undefined) : undefined
    })
    await fetch(`${portal.sandboxUrl}/stripe/dashboard`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ action: 'dispute', payment: paid }),
    })
    await eventually('the dispute is here', async () => {
      const { body } = await staff.finance.call<unknown[]>(
        'GET',
        '/api/operator/disputes?show=open',
      )
      return body.result.length === round
    })
  }
}

/** A webhook that was stored, but whose process was killed before it was handled. */
async function unhandledWebhook({ portal, customers: { dung } }: Needs): Promise<string> {
  const { transactionCode: code } = await must<{ transactionCode: string }>(
    'a top-up is begun',
    portal.call('POST', '/api/payments/checkout', {
      token: dung.token,
      body: { amount: 250_000, type: 1, method: 'QRPAY' },
    }),
  )
  const event = {
    eventId: `killed-${code}`,
    reference: code,
    providerTransactionId: `K${code.slice(0, 12)}`,
    status: 'succeeded',
    amount: '250000',
    currency: 'VND',
    occurredAt: null,
    detail: '00',
  }
  const query = `vnp_TxnRef=${code}&vnp_Amount=25000000&vnp_ResponseCode=00`
  await portal.app.db
    .insertInto('payment_notice')
    .values({
      driver: 'vnpay',
      raw: JSON.stringify({ method: 'GET', query, body: '' }),
      event: JSON.stringify(event),
      received_at: new Date(),
    })
    .execute()
  return code
}

async function asked({ portal, customers, staff, server }: Needs): Promise<void> {
  const ask = (person: Person, subject: string, text: string, object?: object) =>
    must(
      'a ticket',
      portal.call('POST', '/api/tickets', {
        token: person.token,
        body: { subject, text, ...(object && { object }) },
      }),
    )
  await ask(
    customers.hoa,
    'Trang web chạy chậm từ sáng nay',
    'Từ 8 giờ sáng trang chủ mất gần 10 giây mới mở được. Nhờ anh chị kiểm tra giúp.',
    { kind: 'server', id: server.id },
  )
  await ask(customers.minh, 'Xin hoá đơn có mã số thuế', 'Công ty tôi cần hoá đơn tháng này.')
  await must(
    'a canned answer',
    staff.support.act('ticket.save_canned', {
      name: 'Đang kiểm tra máy chủ',
      textEn: 'Hello {name}, we are looking at {object} and write again within the hour.',
      textVi: 'Chào {name}, chúng tôi đang kiểm tra {object} và sẽ báo lại trong vòng một giờ.',
    }),
  )
  await must(
    'a data request',
    portal.call('POST', '/api/v1/account/data-requests', {
      token: customers.mai.token,
      body: { kind: 'access', text: 'Cho tôi biết công ty đang lưu những dữ liệu nào của tôi.' },
    }),
  )
}

/** A customer whose app was lost with the phone. */
async function lostApp({ portal, customers: { tuan } }: Needs): Promise<void> {
  const { token, password } = tuan
  const { secret } = await must<{ secret: string }>(
    'an app',
    portal.call('POST', '/api/v1/account/security/totp', { token, body: { password } }),
  )
  await must(
    'its first code',
    portal.call('POST', '/api/v1/account/security/totp/confirm', {
      token,
      body: { code: totpAt(secret, stepOf(new Date())) },
    }),
  )
}

/** Earlier events: codes that were made, a blocked customer, and an imported file of a gateway. */
async function before({ customers, staff }: Needs): Promise<void> {
  const { finance, support } = staff
  await must(
    'a pay-out',
    finance.act('payout.import', {
      gateway: 'vnpay',
      reference: 'VNPay tuần 47',
      currency: 'VND',
      amount: 115_000,
      arrivedOn: new Date().toISOString().slice(0, 10),
      fileName: 'vnpay-tuan-47.csv',
      file: 'transaction,amount,fee\nTXN-4711-0815,120000,5000\n',
      reason: 'Bảng kê tuần 47',
    }),
  )
  await must(
    'a coupon',
    finance.act('coupon.make', {
      code: 'CHAOBAN',
      amount: 50_000,
      currency: 'VND',
      uses: 4,
      reason: 'Khách hàng mới',
    }),
  )
  await must(
    'a note',
    support.act('customer.note', {
      customer: customers.hoa.id,
      text: 'Gọi sau 14 giờ. Người phụ trách kỹ thuật: anh Nam.',
    }),
  )
}

/** A job that gave up, because Stripe's list of pay-outs could not be read. */
async function failedJob({ outside, staff }: Needs): Promise<void> {
  outside.payoutsUnreadable = true
  const since = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  await must('a look', staff.finance.act('payout.read', { gateway: 'stripe', since, reason }))
  await eventually('the job gave up', async () => {
    const { body } = await staff.operations.call<{ givenUp: unknown[] }>(
      'GET',
      '/api/operator/work',
    )
    return body.result.givenUp.length > 0
  })
}

export async function troubleOf(needs: Needs): Promise<Trouble> {
  const { portal, customers } = needs
  const caller = await callerOf(needs)
  await portal.signIn(customers.lan)
  await lostApp(needs)
  await asked(needs)
  await before(needs)
  await disputes(needs)
  // He wrote his name instead of the code.
  await transfer(portal, 600_000, 'Hoang Ngoc Son nap tien hosting')
  await failedJob(needs)
  // This order is not paid yet.
  await portal.call('POST', '/api/wp', {
    token: customers.minh.token,
    body: { ...form, size: 3, replicate: 4 },
  })
  const webhook = await unhandledWebhook(needs)
  const [stuck, hopeless] = await stuckOrders(needs)
  if (!stuck || !hopeless) throw new Error('no order is stuck')
  return { ...caller, stuck, hopeless, webhook }
}
