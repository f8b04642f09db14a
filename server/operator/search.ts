/**
 * One search box for everything that identifies a customer. Each module searches its own tables by
 * an index: nothing is counted, and no whole table is read.
 */
import { sql } from 'kysely'
import type { Hit } from '../../contract/operator-desk.ts'
import { findCustomers, showCustomers } from '../auth/index.ts'
import { findInvoices } from '../billing/index.ts'
import { findByReference } from '../customer-import/index.ts'
import { findDomains } from '../dns/index.ts'
import { findBankReferences, findPayments, type PaymentDriver } from '../payments/index.ts'
import type { Database, Queryable } from '../platform/db.ts'
import { findTickets } from '../tickets/index.ts'
import { findHosts, type SiteAddressing } from '../wordpress/index.ts'

const ofEachKind = 20
const shownAtOnce = 50

export interface SearchNeeds {
  readonly db: Database
  readonly drivers: ReadonlyMap<string, PaymentDriver>
  readonly addressing: Pick<SiteAddressing, 'host'>
}

type Found = Omit<Hit, 'customer'> & { readonly customerId: string | null }

async function ask(needs: SearchNeeds, db: Queryable, text: string): Promise<Found[]> {
  const of =
    (kind: Hit['kind']) =>
    (found: Omit<Found, 'kind'>): Found => ({
      kind: found.customerId === null ? 'suspense' : kind,
      ...found,
    })
  const isWord = !/\s/.test(text)
  const tickets = await findTickets(db, text)
  // Exact matches come before prefix matches.
  const whole = isWord
    ? [
        ...(await findPayments(db, needs.drivers, text)).map(of('payment')),
        ...(await findInvoices(db, text)).map(of('invoice')),
        ...(await findByReference(db, text, ofEachKind)).map(of('reference')),
        ...(await findBankReferences(db, needs.drivers, text, ofEachKind)).map(
          of('bank_reference'),
        ),
      ]
    : []
  const people = await findCustomers(db, text, ofEachKind)
  const names = isWord
    ? [
        ...(await findDomains(db, text, ofEachKind)).map(of('domain')),
        ...(await findHosts(db, needs.addressing, text, ofEachKind)).map(of('host')),
      ]
    : []
  return [
    ...tickets.map(({ id, ...found }): Found => ({ kind: 'ticket', ticket: id, ...found })),
    ...whole,
    ...people.map(({ id }): Found => ({ kind: 'customer', customerId: id, text: '' })),
    ...names,
  ]
}

export async function search(needs: SearchNeeds, text: string): Promise<Hit[]> {
  const { found, customers } = await needs.db.transaction().execute(async (tx) => {
    // A planner that believes a word to be common would scan the table until it has found twenty;
    // if it is wrong, that is the whole table.
    await sql`set local enable_seqscan = off`.execute(tx)
    const hits = (await ask(needs, tx, text)).slice(0, shownAtOnce)
    const ids = hits.flatMap(({ customerId }) => (customerId === null ? [] : [customerId]))
    return { found: hits, customers: await showCustomers(tx, ids) }
  })
  return found.map(({ customerId, ...hit }) => {
    const customer = customerId === null ? null : (customers.get(customerId) ?? null)
    return { ...hit, customer, text: hit.kind === 'customer' ? (customer?.email ?? '') : hit.text }
  })
}
