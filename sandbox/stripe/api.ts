/** The part of Stripe's API that a portal for linking cards and payments uses. */
import { sameText } from '../constant-time.ts'
import { inTransaction, type Database, type Transaction } from '../database.ts'
import type { Call, Reply } from '../http.ts'
import { invalid, reused, unauthorized, type Answer } from './answer.ts'
import { readForm } from './form.ts'
import type { Tell } from './intents.ts'
import { operations, type Body } from './operations.ts'
import { fault, operationOf } from './schema.ts'
import { newId } from './store.ts'

/** Operations that are allowed with the publishable key. */
const forBrowsers = new Set([
  'POST /v1/payment_methods',
  'POST /v1/setup_intents/{intent}/confirm',
  'POST /v1/payment_intents/{intent}/confirm',
  'GET /v1/setup_intents/{intent}',
  'GET /v1/payment_intents/{intent}',
])

/** Handles a call to /v1/… with either key. A repeated idempotency key gets the stored answer. */
export function createApi(of: {
  readonly db: Database
  readonly keys: { readonly secretKey: string; readonly publishableKey: string }
  /** Runs the work in a transaction with a function that queues events, and sends them after it. */
  readonly telling: (work: (tx: Transaction, tell: Tell) => Promise<Answer>) => Promise<Answer>
}): (call: Call) => Promise<Reply> {
  const { db, keys, telling } = of

  async function once(
    key: string,
    fingerprint: string,
    tx: Transaction,
    work: () => Promise<Answer>,
  ): Promise<Answer & { again?: true }> {
    const { rowCount } = await tx.query(
      `insert into sandbox.stripe_answers (key, fingerprint) values ($1, $2)
        on conflict do nothing`,
      [key, fingerprint],
    )
    if (rowCount === 1) {
      const answer = await work()
      await tx.query('update sandbox.stripe_answers set status = $2, body = $3 where key = $1', [
        key,
        answer.status,
        JSON.stringify(answer.body),
      ])
      return answer
    }
    const { rows } = await tx.query<{ fingerprint: string; status: number; body: string }>(
      'select fingerprint, status, body from sandbox.stripe_answers where key = $1',
      [key],
    )
    const before = rows[0]
    if (before?.fingerprint !== fingerprint) return reused()
    return { status: before.status, body: JSON.parse(before.body) as object, again: true }
  }

  async function answer(call: Call): Promise<Answer & { again?: true }> {
    const bearer = /^Bearer (\S+)$/.exec(call.headers.authorization ?? '')?.[1] ?? ''
    const browser = sameText(keys.publishableKey, bearer)
    if (!browser && !sameText(keys.secretKey, bearer)) return unauthorized()
    const matched = operationOf(call.method, call.path)
    const operation = matched && operations[matched.operation]
    if (!matched || !operation)
      return invalid(`Unrecognized request URL (${call.method}: ${call.path}).`, {}, 404)
    if (browser && !forBrowsers.has(matched.operation)) return unauthorized()
    const form =
      call.method === 'GET' ? call.query : new URLSearchParams(call.body.toString('utf8'))
    const fields = readForm(form)
    const wrong = fault(matched.operation, fields)
    if (wrong) return wrong
    const key = call.headers['idempotency-key']
    const work = (tx: Transaction, tell: Tell): Promise<Answer> =>
      operation({ tx, id: matched.id, body: fields as Body, tell, browser })
    if (call.method === 'GET')
      return await inTransaction(db, (tx) => work(tx, async () => undefined))
    return await telling((tx, tell) =>
      typeof key === 'string'
        ? once(`${bearer} ${key}`, `${call.path} ${call.body.toString('utf8')}`, tx, () =>
            work(tx, tell),
          )
        : work(tx, tell),
    )
  }

  return async (call) => {
    const { status, body, again } = await answer(call)
    return {
      status,
      headers: {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'request-id': newId('req'),
        'stripe-version': String(call.headers['stripe-version'] ?? '2026-10-28.endive'),
        ...(again && { 'idempotent-replayed': 'true' }),
      },
      body: JSON.stringify(body),
    }
  }
}
