/**
 * Which of the customers' names may have a certificate: those of servers that visitors meet. A name
 * that is no longer proven keeps its certificate, and gets no new one.
 */
import type { Queryable } from '../platform/db.ts'

/** Added when a server's names have changed: the part that has certificates issued handles it. */
export const certifySiteJob = 'certify-site'

/** States in which visitors see an answer of the server, if only that it is suspended. */
const statuses = ['provisioning', 'running', 'suspended']

const certifiable = (db: Queryable) =>
  db
    .selectFrom('site_domain as d')
    .innerJoin('site as s', 's.id', 'd.site_id')
    .select(['d.name', 'd.site_id as siteId', 's.customer_id as customerId'])
    .where('d.released_at', 'is', null)
    .where('s.deleted_at', 'is', null)
    .where('s.status', 'in', statuses)

/** Names after `after`, in the order of names; at most `limit`. */
export const namesToCertify = (db: Queryable, after: string, limit: number) =>
  certifiable(db).where('d.name', '>', after).orderBy('d.name').limit(limit).execute()

export const namesOfSite = (db: Queryable, siteId: string) =>
  certifiable(db).where('d.site_id', '=', siteId).execute()

/**
 * The server that has the name, and what the name's records are compared with; undefined: no server
 * has it.
 */
export const holderOf = (db: Queryable, name: string) =>
  certifiable(db)
    .select(['d.id', 'd.verified', 's.name as siteName'])
    .where('d.name', '=', name)
    .executeTakeFirst()
