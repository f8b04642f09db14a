/** A customer's identity, as the other modules and every screen query it. */
import type { Me } from '../../contract/auth.ts'
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'
import type { Queryable } from '../platform/db.ts'
import { printedOf } from './billing-details.ts'
import { createGuards } from './guards.ts'
import { shownPhone } from './imported.ts'
import { languageOfCustomer } from './language.ts'
import type { AuthNeeds } from './needs.ts'
import { createRecovery, type Recovery } from './recovery.ts'
import { createRegistration, type Registration } from './registration.ts'
import { createPasskeys, type Passkeys } from './passkeys.ts'
import { createSecondFactor, type SecondFactor } from './second-factor.ts'
import { createSignInLetter, type SignInLetter } from './sign-in-letter.ts'
import { createSignIn, type SignIn } from './sign-in.ts'

export interface Customer {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly phone: string
  readonly regionCode: RegionCode
  /** The language of letters and messages. */
  readonly language: Language
  /** The chosen time zone; null: none. */
  readonly timeZone: string | null
  /** The address in one line, as invoices print it. */
  readonly address?: string
  readonly company?: string
  readonly taxCode?: string
}

export interface Accounts {
  readonly registration: Registration
  readonly signIn: SignIn
  readonly recovery: Recovery
  readonly passkeys: Passkeys
  readonly secondFactor: SecondFactor
  readonly letter: SignInLetter
  me(db: Queryable, customerId: string): Promise<Me>
  customer(db: Queryable, customerId: string): Promise<Customer>
  /** By id; unknown ids are missing. */
  customers(db: Queryable, ids: readonly string[]): Promise<Map<string, Customer>>
}

/** Customers as letters and invoices name them, by id; unknown ids are missing. */
export async function customersByIds(
  db: Queryable,
  needs: Pick<AuthNeeds, 'languageOf' | 'printedPlace'>,
  ids: readonly string[],
): Promise<Map<string, Customer>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('customer')
    .select([
      'id',
      'email',
      'name',
      'phone',
      'region_code',
      'language',
      'time_zone',
      'address_line',
      'location_id',
      'company',
      'tax_code',
    ])
    .where('id', 'in', ids)
    .execute()
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        email: row.email,
        name: row.name,
        phone: shownPhone(row.phone),
        regionCode: row.region_code as RegionCode,
        language: languageOfCustomer(row, needs.languageOf),
        timeZone: row.time_zone,
        ...printedOf(needs.printedPlace, row),
      },
    ]),
  )
}

export function createAccounts(needs: AuthNeeds): Accounts {
  const guards = createGuards(needs)
  const passkeys = createPasskeys(needs)
  const letter = createSignInLetter(needs, guards)
  const accounts: Accounts = {
    registration: createRegistration(needs, guards),
    signIn: createSignIn(needs, guards, letter),
    recovery: createRecovery(needs, guards),
    passkeys,
    secondFactor: createSecondFactor(needs, passkeys),
    letter,

    async me(db, customerId) {
      const row = await db
        .selectFrom('customer')
        .select(['id', 'email', 'name', 'phone', 'region_code', 'language', 'time_zone'])
        .where('id', '=', customerId)
        .executeTakeFirstOrThrow()
      const { language, time_zone, ...person } = row
      const region = row.region_code as RegionCode
      const { balance, currency } = await needs.balanceOf(db, customerId)
      return {
        ...person,
        phone: shownPhone(person.phone),
        region_code: region,
        balance: Number(balance),
        currency,
        language: (language as Me['language'] | null) ?? needs.languageOf(region),
        timeZone: time_zone,
        accounts: await needs.countAccounts(db, customerId),
      }
    },

    async customer(db, customerId) {
      const found = (await accounts.customers(db, [customerId])).get(customerId)
      if (!found) throw new Error(`no customer ${customerId}`)
      return found
    },

    customers: (db, ids) => customersByIds(db, needs, ids),
  }
  return accounts
}
