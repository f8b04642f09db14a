/** HTTPS of a server for its owner: the certificates' state, and the owner's settings. */
import type { SiteHttps } from '../../contract/certificates.ts'
import type { Clock } from '../platform/clock.ts'
import { onCommit, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { orderJob } from './align.ts'
import { wildcardFor } from './names.ts'
import { certificateOf, certificatesOf, present } from './store.ts'

export interface SiteHttpsDeps {
  readonly clock: Clock
  readonly jobs: Jobs
  readonly isEnabled: boolean
  readonly onChange: () => void
}

/** `host`: the server's own name, below the sites' domain. */
export async function httpsOf(
  db: Queryable,
  { clock, isEnabled }: SiteHttpsDeps,
  of: { readonly siteId: string; readonly host: string },
): Promise<SiteHttps> {
  const choice = await db
    .selectFrom('site_https')
    .select('https_only')
    .where('site_id', '=', of.siteId)
    .executeTakeFirst()
  const own = isEnabled ? await certificateOf(db, wildcardFor(of.host)) : undefined
  const held = isEnabled ? await certificatesOf(db, of.siteId) : []
  const now = clock.now()
  return {
    enabled: isEnabled,
    httpsOnly: choice?.https_only ?? null,
    certificates: [
      ...(own ? [present(own, now, of.host)] : []),
      ...held.map((row) => present(row, now)),
    ],
  }
}

export async function chooseHttpsOnly(
  tx: Tx,
  { clock, onChange }: SiteHttpsDeps,
  of: { readonly siteId: string; readonly httpsOnly: boolean },
): Promise<void> {
  const chosen = { https_only: of.httpsOnly, changed_at: clock.now() }
  await tx
    .insertInto('site_https')
    .values({ site_id: of.siteId, ...chosen })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet(chosen))
    .execute()
  onCommit(tx, onChange)
}

/**
 * Makes one of the site's names due now, and clears its problem, so that it is shown as under way.
 * Refuses with not_found.
 */
export async function retry(
  tx: Tx,
  { clock, jobs }: SiteHttpsDeps,
  of: { readonly siteId: string; readonly name: string },
): Promise<void> {
  const now = clock.now()
  const row = await tx
    .selectFrom('certificate')
    .select(['id', 'problem', 'chain', 'leased_until'])
    .where('site_id', '=', of.siteId)
    .where('name', '=', of.name.toLowerCase())
    .forUpdate()
    .executeTakeFirst()
  if (!row || (row.problem === null && row.chain !== null)) throw new Refusal('not_found')
  // A running try is left to its worker: another one would order a second time.
  if (row.leased_until !== null && row.leased_until > now) return
  await tx
    .updateTable('certificate')
    .set({ next_at: now, problem: null, problem_detail: null, problem_at: null })
    .where('id', '=', row.id)
    .execute()
  await jobs.add(tx, orderJob, {})
}
