/** SQL of the keys that open the files of a server. */
import { randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { SshKey } from '../../../contract/wordpress-sftp.ts'
import type { DB } from '../../platform/db-types.ts'
import type { Queryable, Tx } from '../../platform/db.ts'
import { fingerprintOf } from './host-key.ts'
import type { PublicKey } from './public-key.ts'

type KeyRow = Selectable<DB['site_ssh_key']>

export const presentKey = (row: KeyRow): SshKey => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  fingerprint: fingerprintOf(row.public_key),
  createdAt: row.created_at.toISOString(),
  usedAt: row.used_at?.toISOString() ?? null,
  usedFrom: row.used_from,
})

export const keysOf = (db: Queryable, siteId: string): Promise<KeyRow[]> =>
  db
    .selectFrom('site_ssh_key')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** Undefined: the server has this key already. */
export async function addKey(
  tx: Queryable,
  of: {
    readonly siteId: string
    readonly name: string
    readonly key: PublicKey
    readonly at: Date
  },
): Promise<KeyRow | undefined> {
  return await tx
    .insertInto('site_ssh_key')
    .values({
      id: randomUUID(),
      site_id: of.siteId,
      name: of.name,
      kind: of.key.kind,
      public_key: of.key.bytes,
      created_at: of.at,
    })
    .onConflict((conflict) => conflict.columns(['site_id', 'public_key']).doNothing())
    .returningAll()
    .executeTakeFirst()
}

/** Whether the site had the key. */
export async function removeKey(tx: Tx, siteId: string, keyId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('site_ssh_key')
    .where('site_id', '=', siteId)
    .where('id', '=', keyId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/**
 * Deletes keys of a customer's servers that were added since then, when the account was not in its
 * owner's hands. Connections that they opened end within seconds.
 */
export async function endKeysSince(
  tx: Queryable,
  { customerId, since }: { readonly customerId: string; readonly since: Date },
): Promise<void> {
  await tx
    .deleteFrom('site_ssh_key as k')
    .using('site as s')
    .whereRef('s.id', '=', 'k.site_id')
    .where('s.customer_id', '=', customerId)
    .where('k.created_at', '>=', since)
    .execute()
}

/** A server that has files and a key that opens them. */
export interface OpenedBy {
  readonly siteId: string
  readonly name: string
  readonly keyId: string
  readonly diskMb: number
  /** False while the server is suspended: files can be read and not changed. */
  readonly mayChange: boolean
}

/**
 * The running or suspended server of this name, if this key opens it; undefined where its owner is
 * blocked.
 */
export async function openedBy(
  db: Queryable,
  name: string,
  publicKey: Buffer,
): Promise<OpenedBy | undefined> {
  const row = await db
    .selectFrom('site as s')
    .innerJoin('site_ssh_key as k', 'k.site_id', 's.id')
    .innerJoin('customer as c', 'c.id', 's.customer_id')
    .where('c.blocked_at', 'is', null)
    .select(['s.id', 's.name', 's.status', 's.disk_mb', 'k.id as key_id'])
    .where('s.name', '=', name)
    .where('s.status', 'in', ['running', 'suspended'])
    .where('s.deleted_at', 'is', null)
    .where('k.public_key', '=', publicKey)
    .executeTakeFirst()
  if (!row) return undefined
  return {
    siteId: row.id,
    name: row.name,
    keyId: row.key_id,
    diskMb: row.disk_mb,
    mayChange: row.status === 'running',
  }
}

/** The server of an open connection; undefined when the key or the server is gone. */
export async function stillOpen(db: Queryable, keyId: string): Promise<OpenedBy | undefined> {
  const row = await db
    .selectFrom('site_ssh_key as k')
    .innerJoin('site as s', 's.id', 'k.site_id')
    .select(['s.name', 'k.public_key'])
    .where('k.id', '=', keyId)
    .executeTakeFirst()
  return row && (await openedBy(db, row.name, row.public_key))
}

export const noteUse = async (
  db: Queryable,
  keyId: string,
  at: Date,
  address: string,
): Promise<void> => {
  await db
    .updateTable('site_ssh_key')
    .set({ used_at: at, used_from: address })
    .where('id', '=', keyId)
    .execute()
}
