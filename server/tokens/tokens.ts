/** Tokens for programs: made, listed, used, ended (decision 102). */
import { randomUUID } from 'node:crypto'
import type * as z from 'zod/mini'
import {
  mostTokens,
  tokenPrefix,
  usualTokenDays,
  type NewToken,
  type Token,
} from '../../contract/tokens.ts'
import { wholeRooms, type TokenScope } from '../../contract/token-scopes.ts'
import { dropOld } from '../platform/batches.ts'
import { days, later, minutes, type Clock } from '../platform/clock.ts'
import { sameBytes } from '../platform/constant-time.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import type { ProgramToken } from '../platform/http-calls.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { isNetwork, isWithin } from '../platform/network.ts'
import { hashOf, newToken, publicIdOf, publicLength } from './secret.ts'

/** The last use is written at most this often. */
const lastUsedWriteMs = minutes(5)
/** How long an expired token is shown. */

const texts = {
  tooMany: {
    en: `You have ${mostTokens} tokens already. Revoke one first.`,
    vi: `Bạn đã có ${mostTokens} token. Hãy thu hồi bớt trước.`,
  },
  network: {
    en: 'Write whole addresses or networks such as 203.0.113.0/24 or 2001:db8::/32.',
    vi: 'Hãy ghi địa chỉ hoặc mạng đầy đủ, như 203.0.113.0/24 hay 2001:db8::/32.',
  },
  server: { en: 'Choose servers of yours.', vi: 'Hãy chọn máy chủ của bạn.' },
  domain: { en: 'Choose domains of yours.', vi: 'Hãy chọn tên miền của bạn.' },
  whole: {
    en: 'A token that is limited to servers or domains cannot read wallet or invoices.',
    vi: 'Token giới hạn theo máy chủ hoặc tên miền không thể đọc ví hay hoá đơn.',
  },
} satisfies Record<string, Sentence>

export interface TokenNeeds {
  readonly clock: Clock
  /** Which of these ids are servers of the customer. */
  readonly ownServers: (db: Queryable, customerId: string, ids: string[]) => Promise<string[]>
  readonly ownDomains: (db: Queryable, customerId: string, ids: string[]) => Promise<string[]>
}

type Wish = Omit<z.output<typeof NewToken>, 'password'>

const no = (field: string, sentence: Sentence): Refusal =>
  new Refusal('invalid_input', { fields: { [field]: sentence } })

/** Makes one; the secret is in this answer alone. Refuses with invalid_input and conflict. */
export async function createToken(
  tx: Tx,
  { clock, ownServers, ownDomains }: TokenNeeds,
  of: { readonly customerId: string; readonly wish: Wish },
): Promise<{ token: Token; secret: string }> {
  const { customerId, wish } = of
  // The lock serialises a customer's new tokens, so that two at once cannot evade the limit.
  await tx
    .selectFrom('customer')
    .select('id')
    .where('id', '=', customerId)
    .forUpdate()
    .executeTakeFirstOrThrow()
  const { n } = await tx
    .selectFrom('program_token')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('customer_id', '=', customerId)
    .where('expires_at', '>', clock.now())
    .executeTakeFirstOrThrow()
  if (Number(n) >= mostTokens) throw new Refusal('conflict', { fields: { name: texts.tooMany } })
  const unique = (ids: readonly string[] | null | undefined): string[] | null =>
    ids ? [...new Set(ids.map((id) => id.toLowerCase()))] : null
  const [servers, domains] = [unique(wish.servers), unique(wish.domains)]
  if ((servers || domains) && wish.scopes.some((scope) => wholeRooms.has(scope)))
    throw no('scopes', texts.whole)
  const isAnyOther = (ids: readonly string[]): boolean => !ids.every(isUuid)
  if (
    servers &&
    (isAnyOther(servers) || (await ownServers(tx, customerId, servers)).length < servers.length)
  )
    throw no('servers', texts.server)
  if (
    domains &&
    (isAnyOther(domains) || (await ownDomains(tx, customerId, domains)).length < domains.length)
  )
    throw no('domains', texts.domain)
  const networks = (wish.networks ?? []).map((text) => text.trim())
  if (!networks.every(isNetwork)) throw no('networks', texts.network)
  const { token: secret, publicId } = newToken()
  const now = clock.now()
  const row = await tx
    .insertInto('program_token')
    .values({
      id: randomUUID(),
      customer_id: customerId,
      name: wish.name,
      public_id: publicId,
      token_hash: hashOf(secret),
      scopes: [...new Set(wish.scopes)],
      servers,
      domains,
      networks,
      created_at: now,
      expires_at: later(now, days(wish.expiresInDays ?? usualTokenDays)),
    })
    .returning(shownColumns)
    .executeTakeFirstOrThrow()
  return { token: present(row, now), secret }
}

const shownColumns = [
  'id',
  'name',
  'public_id',
  'scopes',
  'servers',
  'domains',
  'networks',
  'created_at',
  'expires_at',
  'last_used_at',
  'last_used_from',
] as const
interface Shown {
  readonly id: string
  readonly name: string
  readonly public_id: string
  readonly scopes: string[]
  readonly servers: string[] | null
  readonly domains: string[] | null
  readonly networks: string[]
  readonly created_at: Date
  readonly expires_at: Date
  readonly last_used_at: Date | null
  readonly last_used_from: string | null
}
const present = (row: Shown, now: Date): Token => ({
  id: row.id,
  name: row.name,
  begins: tokenPrefix + row.public_id,
  scopes: row.scopes as TokenScope[],
  servers: row.servers,
  domains: row.domains,
  networks: row.networks,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  expired: row.expires_at <= now,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
  lastUsedFrom: row.last_used_from,
})

/** Newest first; expired ones stay for a month. */
export async function listTokens(
  db: Queryable,
  clock: Clock,
  customerId: string,
): Promise<Token[]> {
  const rows = await db
    .selectFrom('program_token')
    .select(shownColumns)
    .where('customer_id', '=', customerId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map((row) => present(row, clock.now()))
}

/** Undefined: it was revoked. */
export async function nameOfToken(db: Queryable, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('program_token')
    .select('name')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.name
}

/** Ends one at once. Refuses with not_found. */
export async function revokeToken(tx: Tx, customerId: string, id: string): Promise<void> {
  const { numDeletedRows } = isUuid(id)
    ? await tx
        .deleteFrom('program_token')
        .where('id', '=', id)
        .where('customer_id', '=', customerId)
        .executeTakeFirst()
    : { numDeletedRows: 0n }
  if (numDeletedRows === 0n) throw new Refusal('not_found')
}

/** The part of a token that names it, where `named` begins as one does; else `named` itself. */
export const tokenBeginning = (named: string): string =>
  named.startsWith(tokenPrefix) ? named.slice(0, tokenPrefix.length + publicLength) : named

/**
 * Ends one whoever's it is, by its id or by how it begins; answers whose it was. Undefined: there
 * is none.
 */
export async function revokeNamedToken(
  tx: Tx,
  named: string,
): Promise<{ id: string; customerId: string; name: string; begins: string } | undefined> {
  const begins = tokenBeginning(named)
  const isBeginning = begins.startsWith(tokenPrefix)
  if (!isBeginning && !isUuid(named)) return undefined
  const row = await tx
    .deleteFrom('program_token')
    .where((eb) =>
      isBeginning ? eb('public_id', '=', begins.slice(tokenPrefix.length)) : eb('id', '=', named),
    )
    .returning(['id', 'customer_id', 'name', 'public_id'])
    .executeTakeFirst()
  return (
    row && {
      id: row.id,
      customerId: row.customer_id,
      name: row.name,
      begins: tokenPrefix + row.public_id,
    }
  )
}

/** Ends all of a customer; answers how many. */
export async function endTokens(tx: Tx, customerId: string): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('program_token')
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** The owner of a token; undefined: unknown, revoked, expired, or its customer is blocked. */
export async function identifyToken(
  db: Queryable,
  clock: Clock,
  token: string,
  ip: string,
): Promise<ProgramToken | undefined> {
  const publicId = publicIdOf(token)
  if (publicId === undefined) return undefined
  const now = clock.now()
  const row = await db
    .selectFrom('program_token')
    .innerJoin('customer', 'customer.id', 'program_token.customer_id')
    .select(['program_token.id', 'customer_id', 'token_hash', 'scopes', 'servers', 'domains'])
    .select(['networks', 'last_used_at', 'blocked_at'])
    .where('public_id', '=', publicId)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (!row || !sameBytes(row.token_hash, hashOf(token)) || row.blocked_at !== null) return undefined
  const fromHere = row.networks.length === 0 || isWithin(ip, row.networks)
  const due =
    row.last_used_at === null || now.getTime() - row.last_used_at.getTime() > lastUsedWriteMs
  if (fromHere && due)
    await db
      .updateTable('program_token')
      .set({ last_used_at: now, last_used_from: ip })
      .where('id', '=', row.id)
      .execute()
  return {
    id: row.id,
    customerId: row.customer_id,
    rights: {
      scopes: row.scopes as TokenScope[],
      servers: row.servers,
      domains: row.domains,
    },
    fromHere,
  }
}

export const dropOldTokens = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'program_token')
