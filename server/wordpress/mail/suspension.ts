/** Suspends the mail of a site whose letters harm others, until an operator resumes it. */
import type { SuspensionCause } from '../../../contract/wordpress-mail.ts'
import type { Tx } from '../../platform/db.ts'
import type { Jobs } from '../../platform/jobs.ts'
import { ensureJob } from '../change.ts'
import { lockSite } from '../store.ts'
import type { MailDeps } from './deps.ts'
import { tellOfResumption, tellOfSuspension, type TellDeps } from './letters.ts'
import { lockSetting, settingOf, wakeFor } from './store.ts'

/** Suspend when `tooMany` of the last `looksAt` letters were permanently refused. */
const looksAt = 50
const tooMany = 10

export type SuspensionDeps = TellDeps & Pick<MailDeps, 'log'> & { readonly jobs: Pick<Jobs, 'add'> }

/** Suspends the mail of a site. Acts once; answers whether it was not suspended before. */
export async function suspendMail(
  tx: Tx,
  deps: SuspensionDeps,
  of: { siteId: string; cause: SuspensionCause; note: string | null },
): Promise<boolean> {
  const site = await lockSite(tx, of.siteId)
  if (!site || site.deleted_at !== null || site.mail_suspended) return false
  await lockSetting(tx, site.id)
  await tx.updateTable('site').set({ mail_suspended: true }).where('id', '=', site.id).execute()
  await tx
    .updateTable('site_mail_setting')
    .set({
      suspended_at: deps.clock.now(),
      suspended_for: of.cause,
      suspended_note: of.note,
      wake_at: null,
    })
    .where('site_id', '=', site.id)
    .execute()
  await tx
    .updateTable('site_mail')
    .set({ state: 'held', why: 'suspended', leased_until: null })
    .where('site_id', '=', site.id)
    .where('state', '=', 'waiting')
    .execute()
  // From now on its PHP's mail() fails.
  await deps.jobs.add(tx, ensureJob, { siteId: site.id })
  await tellOfSuspension(tx, deps, { site, cause: of.cause, note: of.note })
  deps.log.warn(
    { site: site.name, cause: of.cause },
    'mail of a site is suspended: `npm run portal -- mail`',
  )
  return true
}

/** Resumes the mail of a site and sends held letters; answers whether it was suspended. */
export async function resumeMail(tx: Tx, deps: SuspensionDeps, siteId: string): Promise<boolean> {
  const site = await lockSite(tx, siteId)
  if (!site || site.deleted_at !== null || !site.mail_suspended) return false
  await lockSetting(tx, site.id)
  const now = deps.clock.now()
  await tx.updateTable('site').set({ mail_suspended: false }).where('id', '=', site.id).execute()
  await tx
    .updateTable('site_mail_setting')
    .set({ suspended_at: null, suspended_for: null, suspended_note: null, resumed_at: now })
    .where('site_id', '=', site.id)
    .execute()
  await tx
    .updateTable('site_mail')
    .set({ state: 'waiting', why: null, next_at: now })
    .where('site_id', '=', site.id)
    .where('state', '=', 'held')
    .execute()
  await deps.jobs.add(tx, ensureJob, { siteId: site.id })
  await wakeFor(tx, deps, site.id)
  await tellOfResumption(tx, deps, site)
  return true
}

/** The outcome of one recipient's letter, and when it was known: at once, or by a report. */
interface Outcome {
  readonly id: bigint
  readonly isBounced: boolean
  readonly at: Date
}

/** Whether too many of the most recent outcomes are permanent refusals. */
export function areTooManyBounced(outcomes: readonly Outcome[]): boolean {
  const each = new Map(outcomes.map((one) => [one.id, one]))
  const last = [...each.values()]
    .toSorted((a, b) => b.at.getTime() - a.at.getTime())
    .slice(0, looksAt)
  return last.filter(({ isBounced }) => isBounced).length >= tooMany
}

/**
 * Called after a permanent refusal or a returned letter; suspends the mail if there are too many.
 */
export async function judgeBounces(tx: Tx, deps: SuspensionDeps, siteId: string): Promise<void> {
  const resumedAt = (await settingOf(tx, siteId))?.resumed_at ?? null
  const newest = async (by: 'settled_at' | 'returned_at'): Promise<Outcome[]> => {
    const rows = await tx
      .selectFrom('site_mail')
      .select(['id', 'state', 'settled_at', 'returned_at'])
      .where('site_id', '=', siteId)
      .where(by, 'is not', null)
      .where('state', 'in', ['sent', 'bounced'])
      // Letters sent before an operator resumed the mail do not count, whenever they come back.
      .$if(resumedAt !== null, (query) => query.where('settled_at', '>', resumedAt))
      .orderBy(by, 'desc')
      .limit(looksAt)
      .execute()
    return rows.flatMap(({ id, state, settled_at: settled, returned_at: returned }) => {
      const at = returned ?? settled
      return at === null ? [] : [{ id, isBounced: state === 'bounced', at }]
    })
  }
  // A letter that comes back may have been sent before the last fifty.
  const outcomes = [...(await newest('settled_at')), ...(await newest('returned_at'))]
  if (areTooManyBounced(outcomes))
    await suspendMail(tx, deps, { siteId, cause: 'bounces', note: null })
}
