/**
 * Offers: a link by letter, valid once and for seven days. The recipient must be signed in under
 * the address that it was sent to. Everything changes hands in one transaction, or nothing does.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { listedDays, offerDays, type HandOver } from '../../contract/hand-over.ts'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { giveSubscription, holdForHandOver, holdToPrice, type Terms } from '../billing/index.ts'
import { giveDomain, holdDomain } from '../dns/index.ts'
import { dropOld } from '../platform/batches.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { giveServer, holdServerToGive } from '../wordpress/index.ts'

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

const texts = {
  own: { en: 'This is your own address.', vi: 'Đây là địa chỉ của chính bạn.' },
  otherAddress: {
    en:
      'This offer was sent to another e-mail address than that of your account. Sign in with the ' +
      'account of the address that the letter came to.',
    vi:
      'Thư chuyển giao này được gửi tới địa chỉ email khác với email của tài khoản bạn. Hãy đăng ' +
      'nhập bằng tài khoản của địa chỉ đã nhận thư.',
  },
} satisfies Record<string, Sentence>

export type Kind = HandOver['kind']

interface Row {
  readonly id: string
  readonly from_id: string
  readonly email: string
  readonly kind: string
  readonly subject_id: string
  readonly name: string
  readonly created_at: Date
  readonly expires_at: Date
  readonly accepted_at: Date | null
}
const columns = [
  'id',
  'from_id',
  'email',
  'kind',
  'subject_id',
  'name',
  'created_at',
  'expires_at',
  'accepted_at',
] as const
const present = (row: Row): HandOver => ({
  id: row.id,
  kind: row.kind as Kind,
  name: row.name,
  email: row.email,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  acceptedAt: row.accepted_at?.toISOString() ?? null,
})

/** Open offers, and those accepted in the last 90 days; newest first. */
export async function listOffers(
  db: Queryable,
  clock: Clock,
  customerId: string,
): Promise<HandOver[]> {
  const now = clock.now()
  const rows = await db
    .selectFrom('hand_over')
    .select(columns)
    .where('from_id', '=', customerId)
    .where((eb) =>
      eb.or([
        eb('accepted_at', '>', later(now, -days(listedDays))),
        eb.and([eb('accepted_at', 'is', null), eb('expires_at', '>', now)]),
      ]),
    )
    .orderBy('created_at', 'desc')
    .limit(100)
    .execute()
  return rows.map(present)
}

/** The offered thing, locked with everything that changes hands. */
type Held =
  | { readonly kind: 'server'; readonly name: string; readonly terms: Terms; give: Give }
  | { readonly kind: 'domain'; readonly name: string; readonly terms: null; give: Give }
type Give = (tx: Tx, toId: string, account: Account) => Promise<void>
interface Account {
  readonly currency: Currency
  readonly regionCode: RegionCode
}

/** Refuses with not_found, and with conflict and a sentence when it may not change hands now. */
async function hold(
  tx: Tx,
  clock: Clock,
  { kind, fromId, id }: { readonly kind: Kind; readonly fromId: string; readonly id: string },
): Promise<Held> {
  if (kind === 'domain') {
    const zone = await holdDomain(tx, fromId, id)
    return {
      kind,
      name: zone.shown_name,
      terms: null,
      give: (at, toId) => giveDomain(at, zone, toId),
    }
  }
  const site = await holdServerToGive(tx, fromId, id)
  const terms = await holdForHandOver(tx, clock, site.subscription_id)
  return {
    kind,
    name: site.name,
    terms,
    async give(at, toId, account) {
      await giveSubscription(at, { id: site.subscription_id, terms, toId }, account)
      await giveServer(at, site.id, toId)
    },
  }
}

/**
 * Makes an offer; only the letter contains its token. A newer offer replaces an older one. Refuses
 * with not_found, conflict, invalid_input.
 */
export async function createOffer(
  tx: Tx,
  clock: Clock,
  of: {
    readonly customerId: string
    readonly wish: { readonly kind: Kind; readonly id: string; readonly email: string }
  },
): Promise<{ offer: HandOver; token: string }> {
  const { customerId, wish } = of
  const id = wish.id.toLowerCase()
  const owner = await tx
    .selectFrom('customer')
    .select('email')
    .where('id', '=', customerId)
    .forUpdate()
    .executeTakeFirstOrThrow()
  if (owner.email === wish.email)
    throw new Refusal('invalid_input', { fields: { email: texts.own } })
  const { name } = await hold(tx, clock, { kind: wish.kind, fromId: customerId, id })
  await tx
    .deleteFrom('hand_over')
    .where('subject_id', '=', id)
    .where('accepted_at', 'is', null)
    .execute()
  const token = randomBytes(32).toString('base64url')
  const now = clock.now()
  const row = await tx
    .insertInto('hand_over')
    .values({
      id: randomUUID(),
      from_id: customerId,
      email: wish.email,
      kind: wish.kind,
      subject_id: id,
      name,
      token_hash: hashOf(token),
      created_at: now,
      expires_at: later(now, days(offerDays)),
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  return { offer: present(row), token }
}

/** Refuses with not_found. */
export async function takeBack(tx: Tx, customerId: string, id: string): Promise<void> {
  const { numDeletedRows } = isUuid(id)
    ? await tx
        .deleteFrom('hand_over')
        .where('id', '=', id)
        .where('from_id', '=', customerId)
        .where('accepted_at', 'is', null)
        .executeTakeFirst()
    : { numDeletedRows: 0n }
  if (numDeletedRows === 0n) throw new Refusal('not_found')
}

/**
 * Locks both customers until the transaction ends, so that neither is blocked or closed meanwhile.
 * Refuses with link_expired an offer that was used, withdrawn, or made by a customer who is
 * blocked; with account_blocked a person who is blocked, and with unauthenticated one who has
 * closed the account.
 */
async function openOffer(tx: Tx, clock: Clock, token: string, personId: string): Promise<Row> {
  const known = await tx
    .selectFrom('hand_over')
    .select('from_id')
    .where('token_hash', '=', hashOf(token))
    .executeTakeFirst()
  if (!known) throw new Refusal('link_expired')
  // Lock the customers first, as making an offer does, and sorted by id, because they may offer to
  // each other.
  const customers = await tx
    .selectFrom('customer')
    .select(['id', 'blocked_at', 'closed_at'])
    .where('id', 'in', [known.from_id, personId])
    .orderBy('id')
    .forUpdate()
    .execute()
  const [from, person] = [known.from_id, personId].map((id) =>
    customers.find((one) => one.id === id),
  )
  if (!person || person.closed_at !== null) throw new Refusal('unauthenticated')
  if (person.blocked_at !== null) throw new Refusal('account_blocked')
  const row = await tx
    .selectFrom('hand_over')
    .select(columns)
    .where('token_hash', '=', hashOf(token))
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', clock.now())
    .forUpdate()
    .executeTakeFirst()
  if (!row || !from || from.blocked_at !== null) throw new Refusal('link_expired')
  return row
}

const judgeAddress = (row: Row, person: { readonly id: string; readonly email: string }): void => {
  if (person.email !== row.email || row.from_id === person.id)
    throw new Refusal('forbidden', { said: texts.otherAddress })
}

/** The content of a link for the caller. Refuses as accepting does. */
export async function lookAtOffer(
  tx: Tx,
  clock: Clock,
  { token, person }: { readonly token: string; readonly person: Person },
): Promise<{ kind: Kind; name: string; fromId: string; expiresAt: Date; terms: Terms | null }> {
  const row = await openOffer(tx, clock, token, person.id)
  judgeAddress(row, person)
  const kind = row.kind as Kind
  const held = await hold(tx, clock, { kind, fromId: row.from_id, id: row.subject_id })
  const { name, terms } = held
  return { kind, name, fromId: row.from_id, expiresAt: row.expires_at, terms }
}

/** The recipient. */
export interface Person extends Account {
  readonly id: string
  readonly email: string
}

/**
 * Transfers the thing to the caller. Refuses with link_expired, forbidden (another address), and
 * with conflict and a sentence, also if the price differs from the one the caller saw.
 */
export async function acceptOffer(
  tx: Tx,
  clock: Clock,
  of: {
    readonly token: string
    readonly person: Person
    /** The price that the person saw, minor units a month. */
    readonly price?: number | undefined
  },
): Promise<{ kind: Kind; id: string; name: string; fromId: string; terms: Terms | null }> {
  const { token, person } = of
  const row = await openOffer(tx, clock, token, person.id)
  judgeAddress(row, person)
  const kind = row.kind as Kind
  const held = await hold(tx, clock, { kind, fromId: row.from_id, id: row.subject_id })
  if (held.terms) holdToPrice(of.price, held.terms.price, held.terms.currency)
  await held.give(tx, person.id, person)
  await tx
    .updateTable('hand_over')
    .set({ to_id: person.id, accepted_at: clock.now() })
    .where('id', '=', row.id)
    .execute()
  return {
    kind,
    id: row.subject_id,
    name: held.name,
    fromId: row.from_id,
    terms: held.terms,
  }
}

/** Voids open offers, because the owner may not have made them. */
export async function takeBackOffers(tx: Tx, customerId: string): Promise<void> {
  await tx
    .deleteFrom('hand_over')
    .where('from_id', '=', customerId)
    .where('accepted_at', 'is', null)
    .execute()
}

/** Deletes offers that were not accepted once they have expired, and the others after two years. */
export async function dropOldOffers(db: Queryable, clock: Clock): Promise<void> {
  await dropOld(db, clock, 'hand_over')
}
