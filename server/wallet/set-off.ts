/** Money that comes into a wallet settles its customer's debts, the oldest first. */
import { sql } from 'kysely'
import type { Tx } from '../platform/db.ts'
import { walletOf } from './accounts.ts'
import { openDebts, receivables, settleDebt, type ChargebacksSince } from './debts.ts'
import type { Poster } from './post.ts'
import type { Credited, Movement, Outcome, PostingKind } from './posting.ts'

type Incoming = Omit<Movement, 'driver'>
const all = new Date(0)

export interface SetOff {
  /**
   * Takes the customer's debt out of the wallet, at most `amount`; returns the minor units taken.
   * The caller has locked the accounts.
   */
  setOff(tx: Tx, of: Incoming, since: ChargebacksSince): Promise<bigint>
  /**
   * Posts incoming money from an account, and settles debts from it. The usual case has no debts
   * and costs one extra query.
   */
  incoming(
    tx: Tx,
    account: string,
    of: Incoming,
    put: () => Promise<Outcome>,
    since: ChargebacksSince,
  ): Promise<Credited>
  /** The same, for money that is the customer's from now on. */
  creditFrom(tx: Tx, account: string, of: Incoming, kind?: PostingKind): Promise<Credited>
}

export function createSetOff({ post, lock }: Poster): SetOff {
  async function setOff(tx: Tx, of: Incoming, since: ChargebacksSince): Promise<bigint> {
    let left = of.amount
    for (const debt of await openDebts(tx, of.customerId, of.currency, since)) {
      const owed = debt.amount - debt.settled
      const taken = owed < left ? owed : left
      if (taken === 0n) break
      left -= taken
      await post(tx, {
        key: `${of.key}:settles:${debt.key}`,
        kind: debt.kind === 'lent' ? 'repaid' : 'set_off',
        details: debt.kind === 'refund' ? { ...of.details, debt: 'refund' } : of.details,
        lines: [
          { account: walletOf(of.customerId), amount: -taken },
          { account: debt.account, amount: taken },
        ],
      })
      await settleDebt(tx, debt.key, taken)
    }
    return of.amount - left
  }

  async function incoming(
    tx: Tx,
    account: string,
    of: Incoming,
    put: () => Promise<Outcome>,
    since: ChargebacksSince,
  ): Promise<Credited> {
    const { customerId, currency } = of
    const owesNothing = async (): Promise<boolean> =>
      (await openDebts(tx, customerId, currency, since)).length === 0
    if (await owesNothing()) {
      await sql`savepoint crediting`.execute(tx)
      const outcome = await put()
      // The wallet is locked now: a debt that came meanwhile is seen, one that comes waits.
      if (await owesNothing()) {
        await sql`release savepoint crediting`.execute(tx)
        return { ...outcome, setOff: 0n }
      }
      await sql`rollback to savepoint crediting`.execute(tx)
    }
    // All that may be touched, at once, in the order of every posting.
    await lock(tx, [walletOf(customerId), account, ...(await receivables(tx, currency))])
    const outcome = await put()
    return { ...outcome, setOff: outcome.outcome === 'posted' ? await setOff(tx, of, since) : 0n }
  }

  return {
    setOff,
    incoming,
    creditFrom: (tx, account, of, kind = 'topup') =>
      incoming(
        tx,
        account,
        of,
        () =>
          post(tx, {
            key: of.key,
            kind,
            details: of.details,
            lines: [
              { account: walletOf(of.customerId), amount: of.amount },
              { account, amount: -of.amount },
            ],
          }),
        all,
      ),
  }
}
