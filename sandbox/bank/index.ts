/**
 * A bank, its customer's app, and the two feeds (SePay, Casso V2) that tell an account's owner what
 * arrived. Sources: https://developer.sepay.vn/en/sepay-webhooks,
 * https://developer.sepay.vn/en/sepay-api/api-giao-dich, https://developer.casso.vn/webhook
 *
 * For a program in place of a person:
 *   GET  /bank/app?qr=<text of the QR code>       the app's transfer page, filled in
 *   POST /bank/app   (application/x-www-form-urlencoded)
 *        account, amount (đồng), content feed sepay (as without it) | casso notice now (as without
 *        it) | late (about 8 s) | lost manner plain | capitals | prefixed | glued | repeated what
 *        the bank makes of the text
 *   answers 200 with the receipt; the webhook has been answered by then. `reference` on the receipt
 *   is the bank's own. GET /sepay/userapi/transactions/list (Authorization: Bearer <token>)
 */
import { createHmac, randomInt } from 'node:crypto'
import { sameText } from '../constant-time.ts'
import { inTransaction, type Database } from '../database.ts'
import type { Gateway, GatewayOptions, Keys } from '../gateway.ts'
import { formOf, json, type Call, type Reply } from '../http.ts'
import { startWebhooks } from '../webhooks.ts'
import { appPage, receiptPage } from './page.ts'
import { readQr } from './qr.ts'

export const bankTables = `
  create sequence if not exists sandbox.bank_movement_no start 92704;
  create table if not exists sandbox.bank_movements (
    id bigint primary key default nextval('sandbox.bank_movement_no'),
    account text not null,
    amount bigint not null,
    content text not null,
    reference text not null unique,
    feed text not null,
    at timestamptz not null default now()
  )`

interface Movement {
  readonly id: string
  readonly account: string
  readonly amount: string
  readonly content: string
  readonly reference: string
  readonly feed: 'sepay' | 'casso'
  readonly at: Date
}

/** How banks change a transfer's text, by name. */
const manners: Readonly<Record<string, (text: string, reference: string) => string>> = {
  plain: (text) => text,
  capitals: (text) => text.toUpperCase().replaceAll(/[^A-Z0-9 ]/g, ' '),
  prefixed: (text, reference) => `${reference}.${text}.CT tu 0071000123456 NGUYEN VAN AN toi`,
  glued: (text) => text.replaceAll(/\s/g, ''),
  repeated: (text, reference) => `${text}-${reference}-${text}`,
}

const vietnam = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Asia/Ho_Chi_Minh',
  dateStyle: 'short',
  timeStyle: 'medium',
})
const bankName = 'Vietcombank'

const sepayWebhook = (movement: Movement): string =>
  JSON.stringify({
    id: Number(movement.id),
    gateway: bankName,
    transactionDate: vietnam.format(movement.at),
    accountNumber: movement.account,
    code: null,
    content: movement.content,
    transferType: 'in',
    transferAmount: Number(movement.amount),
    accumulated: 19_077_000,
    subAccount: null,
    referenceCode: movement.reference,
    description: `BankAPINotify ${movement.content}`,
  })

const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, inner]) => [key, sorted(inner)]),
      )
    : value
const cassoBody = (movement: Movement) => ({
  error: 0,
  data: {
    id: Number(movement.id),
    reference: movement.reference,
    description: movement.content,
    amount: Number(movement.amount),
    runningBalance: 25_000_000,
    transactionDateTime: vietnam.format(movement.at),
    accountNumber: movement.account,
    bankName,
    bankAbbreviation: 'VCB',
    virtualAccountNumber: '',
    virtualAccountName: '',
    counterAccountName: 'NGUYEN VAN AN',
    counterAccountNumber: '0071000123456',
    counterAccountBankId: '970436',
    counterAccountBankName: bankName,
  },
})

/**
 * Opens the bank for one account: keys `accountNumber`, `sepaySecret`, `sepayToken`, `cassoSecret`.
 */
export function openBank(db: Database, keys: Keys, options: GatewayOptions): Gateway {
  const { accountNumber = '', sepaySecret = '', sepayToken = '', cassoSecret = '' } = keys
  const webhooks = startWebhooks(
    db,
    {
      gateway: 'bank',
      target: options.webhookUrl,
      // Signed when it is sent, because both signatures contain the time.
      call(payload) {
        const { feed, ...rest } = JSON.parse(payload) as Movement
        const movement: Movement = { ...rest, feed, at: new Date(rest.at) }
        if (feed === 'casso') {
          const body = cassoBody(movement)
          const now = Date.now()
          const mac = createHmac('sha512', cassoSecret)
            .update(`${now}.${JSON.stringify(sorted(body))}`)
            .digest('hex')
          const headers = {
            'content-type': 'application/json',
            'x-casso-signature': `t=${now},v1=${mac}`,
          }
          return { method: 'POST', headers, body: JSON.stringify(body) }
        }
        const body = sepayWebhook(movement)
        const now = Math.floor(Date.now() / 1000)
        const mac = createHmac('sha256', sepaySecret).update(`${now}.${body}`).digest('hex')
        const headers = {
          'content-type': 'application/json',
          'x-sepay-timestamp': String(now),
          'x-sepay-signature': `sha256=${mac}`,
        }
        return { method: 'POST', headers, body }
      },
      accepts: ({ status, body }) =>
        status >= 200 && status < 300 && /"success":\s*true/.test(body),
    },
    options,
  )

  async function transfer(call: Call): Promise<Reply> {
    const form = formOf(call)
    const account = (form.get('account') ?? '').trim()
    const amount = (form.get('amount') ?? '').replaceAll(/[.,\s]/g, '')
    const reference = `MBVCB.${randomInt(1_000_000_000, 9_999_999_999)}`
    const manner = manners[form.get('manner') ?? 'plain'] ?? manners['plain']
    const content = (manner?.(form.get('content') ?? '', reference) ?? '').slice(0, 200)
    if (!/^[1-9]\d{0,11}$/.test(amount) || account === '')
      return appPage(
        { account, amount, content: form.get('content') ?? '' },
        'The account and a whole amount in đồng are needed.',
      )
    const feed = form.get('feed') === 'casso' ? 'casso' : 'sepay'
    const when = form.get('notice') ?? 'now'
    const { movement, webhookId } = await inTransaction(db, async (tx) => {
      const { rows } = await tx.query<Movement>(
        `insert into sandbox.bank_movements (account, amount, content, reference, feed)
          values ($1, $2, $3, $4, $5) returning *`,
        [account, amount, content, reference, feed],
      )
      const made = rows[0]
      if (made === undefined) throw new Error('a movement was lost')
      const id =
        when === 'lost'
          ? null
          : await webhooks.add(tx, JSON.stringify(made), when === 'late' ? 'late' : 'now')
      return { movement: made, webhookId: id }
    })
    if (webhookId !== null && when !== 'late') await webhooks.sendNow(webhookId)
    else webhooks.wake()
    return receiptPage({
      amount: BigInt(movement.amount),
      account,
      content: movement.content,
      reference,
    })
  }

  async function list({ query, headers }: Call): Promise<Reply> {
    if (!sameText(`Bearer ${sepayToken}`, headers.authorization))
      return json({ status: 401, error: 'Unauthorized', messages: { success: false } }, 401)
    const moment = (name: string, otherwise: string): string => {
      const text = query.get(name) ?? ''
      return /^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?$/.test(text) ? `${text}+07` : otherwise
    }
    const { rows } = await db.query<Movement>(
      `select * from sandbox.bank_movements
       where ($1::text is null or account = $1) and at >= $2::timestamptz
       and at <= $3::timestamptz + interval '1 second' order by id desc limit 5000`,
      [
        query.get('account_number'),
        moment('transaction_date_min', '-infinity'),
        moment('transaction_date_max', 'infinity'),
      ],
    )
    const transactions = rows.map((row) => ({
      id: row.id,
      bank_brand_name: bankName,
      account_number: row.account,
      transaction_date: vietnam.format(row.at),
      amount_out: '0.00',
      amount_in: `${row.amount}.00`,
      accumulated: '0.00',
      transaction_content: row.content,
      reference_number: row.reference,
      code: null,
      sub_account: null,
      bank_account_id: '19',
    }))
    return json({ status: 200, error: null, messages: { success: true }, transactions })
  }

  return {
    routes: {
      'GET /bank/app': ({ query }) =>
        appPage(
          readQr(query.get('qr') ?? '') ?? { account: accountNumber, amount: '', content: '' },
        ),
      'POST /bank/app': transfer,
      'GET /sepay/userapi/transactions/list': list,
    },
    close: () => webhooks.close(),
  }
}
