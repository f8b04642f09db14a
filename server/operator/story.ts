/** A customer's whole story on one page. */
import type { Language } from '../../contract/errors.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import { accountStory } from '../auth/index.ts'
import { invoicesOfCustomer } from '../billing/index.ts'
import { importOfCustomer } from '../customer-import/index.ts'
import { domainsOfCustomer } from '../dns/index.ts'
import { lettersTo } from '../messages/index.ts'
import { autoTopUpOfCustomer, paymentsOfCustomer, type PaymentDriver } from '../payments/index.ts'
import { ticketsOfCustomer } from '../tickets/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import { listTokens } from '../tokens/index.ts'
import { entryPage, shownLine, type Ledger } from '../wallet/index.ts'
import { listEndpoints } from '../webhooks/index.ts'
import { serversOfCustomer } from '../wordpress/index.ts'
import { listActs } from './trail.ts'

const shownEntries = 10
const shownPayments = 10
const shownInvoices = 10
const shownServers = 50
const shownNotes = 20
const shownActs = 20

const first = (limit: number) => ({ limit, before: null })

export interface StoryNeeds {
  readonly db: Database
  readonly clock: Clock
  readonly ledger: Ledger
  readonly drivers: ReadonlyMap<string, PaymentDriver>
}

/** Refuses with not_found. */
export async function storyOf(
  { db, clock, ledger, drivers }: StoryNeeds,
  customerId: string,
  language: Language,
): Promise<CustomerStory> {
  const account = await accountStory(db, clock, customerId)
  const [
    balances,
    line,
    entries,
    autoTopUp,
    payments,
    invoices,
    servers,
    domains,
    letters,
    tokens,
    webhooks,
    tickets,
    notes,
    labels,
    acts,
    imported,
  ] = await Promise.all([
    ledger.balancesOf(db, [account.id]),
    ledger.creditLineOf(db, account.id),
    entryPage(db, {
      customerId: account.id,
      direction: undefined,
      search: '',
      period: { from: null, to: null },
      language,
      ...first(shownEntries),
    }),
    autoTopUpOfCustomer(db, account.id),
    paymentsOfCustomer(db, drivers, account.id, first(shownPayments)),
    invoicesOfCustomer(db, account.id, first(shownInvoices)),
    serversOfCustomer(db, account.id, first(shownServers)),
    domainsOfCustomer(db, account.id),
    lettersTo(db, [account.email, account.phone]),
    listTokens(db, clock, account.id),
    listEndpoints(db, clock, account.id),
    ticketsOfCustomer(db, account.id),
    db
      .selectFrom('customer_note')
      .select(['id', 'at', 'actor', 'text'])
      .where('customer_id', '=', account.id)
      .orderBy('at', 'desc')
      .limit(shownNotes)
      .execute(),
    db
      .selectFrom('customer_label')
      .select('label')
      .where('customer_id', '=', account.id)
      .orderBy('label')
      .execute(),
    listActs(db, first(shownActs), { customerId: account.id }),
    importOfCustomer(db, account.id),
  ])
  const wallet = balances.get(account.id)
  return {
    ...account,
    imported,
    wallets: wallet
      ? [
          {
            currency: wallet.currency,
            balance: Number(wallet.balance),
            creditLine: line ? shownLine(line) : null,
            entries: entries.items.map((entry) => ({
              id: entry.id,
              at: new Date(entry.created * 1000).toISOString(),
              text: entry.description,
              amount: entry.amount,
              balance: entry.ending_balance,
            })),
          },
        ]
      : [],
    autoTopUp,
    payments: payments.rows,
    invoices: invoices.rows,
    servers: servers.rows,
    more: {
      payments: payments.next !== null,
      invoices: invoices.next !== null,
      servers: servers.next !== null,
    },
    domains,
    letters,
    tokens: tokens
      .filter(({ expired }) => !expired)
      .map(({ id, name, begins, scopes, expiresAt, lastUsedAt, lastUsedFrom }) => ({
        id,
        name,
        begins,
        scopes,
        expiresAt,
        lastUsedAt,
        lastUsedFrom,
      })),
    webhooks: webhooks.map(({ id, url, createdAt, disabled }) => ({
      id,
      host: new URL(url).host,
      createdAt,
      disabled: disabled?.reason ?? null,
    })),
    tickets,
    notes: notes.map(({ id, at, actor, text }) => ({ id, at: at.toISOString(), by: actor, text })),
    labels: labels.map(({ label }) => label),
    acts: acts.rows,
  }
}
