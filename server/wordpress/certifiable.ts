/**
 * Which of customers' names may have a certificate: those of servers that visitors meet. One that
 * is not proven any more keeps what it has, and gets no new one.
 */
import type { Queryable } from '../platform/db.ts'

/** Added when a server's names have changed: whoever has certificates issued looks at them. */
export const certifySiteJob = 'certify-site'

/** Servers whose visitors see something of theirs, if only that they are suspended. */
const statuses = ['provisioning', 'running', 'suspended']

const certifiable = (db: Queryable) =>
  db
    .selectFrom('site_domain as d')
    .innerJoin('site as s', 's.id', 'd.site_id')
    .select(['d.name', 'd.site_id as siteId', 's.customer_id as customerId'])
    .where('d.released_at', 'is', null)
    .where('s.deleted_at', 'is', null)
    .where('s.status', 'in', statuses)

/** By name, those behind `after`. */
export const namesToCertify = (db: Queryable, after: string, limit: number) =>
  certifiable(db).where('d.name', '>', after).orderBy('d.name').limit(limit).execute()

export const namesOfSite = (db: Queryable, siteId: string) =>
  certifiable(db).where('d.site_id', '=', siteId).execute()

/** The server that has the name, with what its records are compared to; undefined: nobody's. */
export const holderOf = (db: Queryable, name: string) =>
  certifiable(db)
    .select(['d.id', 'd.verified', 's.name as siteName'])
    .where('d.name', '=', name)
    .executeTakeFirst()
