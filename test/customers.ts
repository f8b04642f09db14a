/**
 * Customers for tests that are not about registration: written into the database by the functions
 * that register and sign in.
 */
import { randomUUID } from 'node:crypto'
import type { Currency, RegionCode } from '../contract/money.ts'
import { rememberOrigin } from '../server/auth/known-origins.ts'
import { hashPassword } from '../server/auth/password.ts'
import { openSession } from '../server/auth/session.ts'
import { noteSignIn } from '../server/auth/sign-ins.ts'
import type { Clock } from '../server/platform/clock.ts'
import { transaction, type Database } from '../server/platform/db.ts'
import type { Origin } from '../server/platform/http.ts'
import { createLedger } from '../server/wallet/index.ts'

export interface TestCustomer {
  readonly id: string
  readonly email: string
  readonly phone: string
  readonly password: string
  readonly token: string
}

const password = 'Correct-horse-9'
/** Hashed once per process, because it takes as long as a page. */
let passwordHash: Promise<string> | undefined
let people = 0
/** The origin that calls by `callsTo` have. */
const origin: Origin = { ip: '127.0.0.1', network: '127.0.0.1', userAgent: 'node', browser: '' }

/** Writes a customer who has signed in once, from this machine. */
export async function writeCustomer(of: {
  db: Database
  clock: Clock
  region: RegionCode
  currency: Currency
  name?: string | undefined
  email?: string | undefined
  /** False: as registration leaves it. */
  isEmailProven?: boolean | undefined
}): Promise<TestCustomer> {
  const { db, clock } = of
  people += 1
  const number = (process.pid % 10_000) * 1000 + people
  const email = of.email ?? `person${number}@example.vn`
  const phone = `+8491${String(number).padStart(7, '0')}`
  const id = randomUUID()
  const hash = await (passwordHash ??= hashPassword(password))
  const { accessToken } = await transaction(db, async (tx) => {
    await tx
      .insertInto('customer')
      .values({
        id,
        email,
        phone,
        name: of.name ?? 'Nguyễn Văn An',
        password_hash: hash,
        region_code: of.region,
        active: true,
        email_proven_at: of.isEmailProven === false ? null : clock.now(),
        created_at: clock.now(),
      })
      .execute()
    await createLedger(clock).openWallet(tx, id, of.currency)
    await noteSignIn(tx, clock, id, origin, 'succeeded')
    await rememberOrigin(tx, clock, id, origin)
    return await openSession(tx, clock, async () => undefined, id, origin)
  })
  return { id, email, phone, password, token: accessToken }
}
