/**
 * Customers who are only wallets, in a database with just the ledger; and the balance of a test
 * portal's customer.
 */
import { randomUUID } from 'node:crypto'
import { transaction, type Database, type Tx } from '../server/platform/db.ts'
import type { Ledger, Outcome } from '../server/wallet/posting.ts'
import type { TestCustomer, TestPortal } from './portal.ts'

let people = 0

/** For a database that must be open when the functions are called. */
export function walletsOf(ledger: Ledger, db: () => Database) {
  /** A customer with an empty wallet. */
  async function customer(currency: 'VND' | 'AUD' = 'VND'): Promise<string> {
    const id = randomUUID()
    const number = ++people
    await transaction(db(), async (tx) => {
      const row = {
        id,
        email: `w${number}@example.vn`,
        phone: `+8490${number}`,
        name: 'An',
        password_hash: '',
        region_code: currency === 'VND' ? 'VN' : 'AUD',
        created_at: new Date(),
      }
      await tx.insertInto('customer').values(row).execute()
      await ledger.openWallet(tx, id, currency)
    })
    return id
  }
  const post = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => transaction(db(), work)
  const topUp = (
    customerId: string,
    amount: bigint,
    key: string = randomUUID(),
  ): Promise<Outcome> =>
    post((tx) =>
      ledger.credit(tx, {
        key,
        customerId,
        driver: 'vnpay',
        amount,
        currency: 'VND',
        details: { provider: 'VNPay', code: key },
      }),
    )

  return { customer, post, topUp }
}

/** For a portal that must be open when the functions are called. */
export const balancesAt =
  (portal: () => TestPortal) =>
  async ({ id }: TestCustomer): Promise<bigint> =>
    (await portal().app.ledger.balanceOf(portal().app.db, id)).balance
