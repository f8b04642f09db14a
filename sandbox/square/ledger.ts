/**
 * Disputes that a program answers, and pay-outs, as Square has them:
 * https://developer.squareup.com/reference/square/disputes-api and …/payouts-api
 */
import { inTransaction, type Database, type Transaction } from '../database.ts'
import { json, type Call, type Reply } from '../http.ts'
import { faultIn } from './schema.ts'
import { find, list, load, newId, save, type Dispute, type Payment, type Refund } from './store.ts'

export type Tell = (
  type: string,
  kind: 'payment' | 'refund' | 'dispute',
  of: Payment | Refund | Dispute,
) => Promise<void>
type Telling = <T>(work: (tx: Transaction, tell: Tell) => Promise<T>) => Promise<T>

interface Money {
  readonly amount: number
  readonly currency: string
}
/** An entry of the seller's balance; `payout` once it was paid out. */
export interface Entry {
  id: string
  type: string
  payout_id?: string
  gross_amount_money: Money
  fee_amount_money: Money
  net_amount_money: Money
  type_charge_details?: object
  type_refund_details?: object
  type_dispute_details?: object
}
interface Payout {
  id: string
  status: string
  location_id: string
  created_at: string
  amount_money: Money
  arrival_date: string
}

const refused = (status: number, code: string): Reply =>
  json({ errors: [{ category: 'INVALID_REQUEST_ERROR', code, detail: code }] }, status)
const money = (amount: number): Money => ({ amount, currency: 'AUD' })
/** The fee of a payment: 2.2 %. */
const feeOf = (amount: number): number => Math.round((amount * 22) / 1000)
const evidenceDays = 14
const wide = { from: '1970-01-01T00:00:00Z', to: '9999-01-01T00:00:00Z', after: 0, limit: 1000 }

/** Records an entry of the balance. */
export async function noteEntry(
  tx: Transaction,
  type: 'CHARGE' | 'REFUND' | 'DISPUTE',
  amount: number,
  details: { payment_id: string; refund_id?: string; dispute_id?: string },
): Promise<void> {
  const fee = type === 'CHARGE' ? feeOf(amount) : 0
  const entry: Entry = {
    id: newId('poe'),
    type,
    gross_amount_money: money(amount),
    fee_amount_money: money(fee),
    net_amount_money: money(amount - fee),
    [`type_${type.toLowerCase()}_details`]: details,
  }
  await save(tx, 'entry', entry)
}

export const dueAt = (): string => new Date(Date.now() + evidenceDays * 86_400_000).toISOString()

/**
 * Moves a dispute to another state. A won dispute returns the money to the balance; an inquiry that
 * ends moves none.
 */
export async function moveDispute(
  tx: Transaction,
  tell: Tell,
  dispute: Dispute,
  state: string,
): Promise<void> {
  const details = { payment_id: dispute.disputed_payment.payment_id, dispute_id: dispute.id }
  const wasInquiry = dispute.state.startsWith('INQUIRY_')
  dispute.state = wasInquiry && (state === 'WON' || state === 'LOST') ? 'INQUIRY_CLOSED' : state
  await save(tx, 'dispute', dispute)
  if (dispute.state === 'WON') await noteEntry(tx, 'DISPUTE', dispute.amount_money.amount, details)
  await tell('dispute.state.updated', 'dispute', dispute)
}

/** Pays all entries out to the bank that were not paid out yet. */
export async function payOut(tx: Transaction, locationId: string): Promise<void> {
  const entries = await list<Entry>(tx, 'entry', wide)
  const waiting = entries.map(({ data }) => data).filter((entry) => entry.payout_id === undefined)
  if (waiting.length === 0) return
  const at = new Date().toISOString()
  const payout: Payout = {
    id: newId('po'),
    status: 'PAID',
    location_id: locationId,
    created_at: at,
    amount_money: money(waiting.reduce((sum, each) => sum + each.net_amount_money.amount, 0)),
    arrival_date: at.slice(0, 10),
  }
  await save(tx, 'payout', payout)
  for (const entry of waiting) {
    entry.payout_id = payout.id
    await save(tx, 'entry', entry)
  }
}

/** The routes of both, for callers with the access token. */
export function ledgerRoutes(
  db: Database,
  telling: Telling,
  guarded: (work: (call: Call) => Promise<Reply>) => (call: Call) => Promise<Reply>,
): Record<string, (call: Call) => Promise<Reply>> {
  const idIn = (path: string): string => decodeURIComponent(path.split('/')[4] ?? '')

  async function read({ path }: Call): Promise<Reply> {
    const dispute = await inTransaction(db, (tx) => load<Dispute>(tx, 'dispute', idIn(path)))
    return dispute ? json({ dispute }) : refused(404, 'NOT_FOUND')
  }
  async function act(call: Call): Promise<Reply> {
    const [, , , , , verb] = call.path.split('/')
    return await telling(async (tx, tell) => {
      const dispute = await load<Dispute>(tx, 'dispute', idIn(call.path))
      if (!dispute) return refused(404, 'NOT_FOUND')
      const isOpen = dispute.state.endsWith('EVIDENCE_REQUIRED')
      if (verb === 'evidence-text') {
        const body = faultIn<{ idempotency_key: string; evidence_text: string }>(
          'CreateDisputeEvidenceTextRequest',
          call.body,
        )
        if ('fault' in body) return refused(400, 'BAD_REQUEST')
        const { idempotency_key: key, evidence_text: text } = body.read
        const fingerprint = call.body.toString('utf8')
        const before = await find<{ id: string }>(tx, 'evidence', key)
        if (before && before.fingerprint !== fingerprint)
          return refused(400, 'IDEMPOTENCY_KEY_REUSED')
        if (!before && !isOpen) return refused(400, 'BAD_REQUEST')
        const evidence = before?.data ?? { id: newId('evi'), dispute_id: dispute.id, text }
        if (!before) await save(tx, 'evidence', evidence, { key, fingerprint })
        return json({ evidence })
      }
      if (!isOpen) return refused(400, 'BAD_REQUEST')
      if (verb === 'accept') await moveDispute(tx, tell, dispute, 'ACCEPTED')
      else if (verb === 'submit-evidence') {
        const state = dispute.state.replace('EVIDENCE_REQUIRED', 'PROCESSING')
        await moveDispute(tx, tell, dispute, state)
      } else return refused(404, 'NOT_FOUND')
      return json({ dispute })
    })
  }
  const all = async <T>(kind: string): Promise<T[]> =>
    (await inTransaction(db, (tx) => list<T>(tx, kind, wide))).map(({ data }) => data)

  return {
    'GET /square/v2/disputes': guarded(async () =>
      json({ disputes: await all<Dispute>('dispute') }),
    ),
    '/square/v2/disputes/*': guarded((call) => (call.method === 'GET' ? read(call) : act(call))),
    'GET /square/v2/payouts': guarded(async () => json({ payouts: await all<Payout>('payout') })),
    '/square/v2/payouts/*': guarded(async ({ path }) => {
      const entries = await all<Entry>('entry')
      return json({
        payout_entries: entries.filter(({ payout_id: payout }) => payout === idIn(path)),
      })
    }),
  }
}
