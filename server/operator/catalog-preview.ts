/** The preview of a publication: changed lines, prices, days, and the letter. */
import type * as z from 'zod/mini'
import type { ActInput } from '../../contract/operator-acts.ts'
import type { CatalogPreview, Selling } from '../../contract/operator-catalog.ts'
import { outlookOf } from '../billing/index.ts'
import {
  changesBetween,
  needsApproval,
  preparePublication,
  prepareUse,
  sellingOf,
  type Prepared,
  type WantedSelling,
} from '../catalog/index.ts'
import { isUuid, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Clock } from '../platform/clock.ts'
import { approvedUses } from './catalog-acts.ts'
import { serversByPlan, wordpressProduct } from '../wordpress/index.ts'

export interface PreviewNeeds {
  readonly clock: Clock
  readonly portalUrl: string
}

/** Plans that are sold before and not afterwards. */
const endedPlans = (before: Selling, after: Selling) =>
  before.plans.filter(
    ({ id, sold }) => sold && after.plans.find((plan) => plan.id === id)?.sold !== true,
  )

/** Refuses as the publication would, each fault by its field. */
export async function previewOf(
  db: Queryable,
  { clock, portalUrl }: PreviewNeeds,
  wanted: WantedSelling,
): Promise<z.input<typeof CatalogPreview>> {
  const prepared = await preparePublication(db, clock, wanted)
  return await previewPrepared(db, { clock, portalUrl }, prepared)
}

async function previewPrepared(
  db: Queryable,
  { clock, portalUrl }: PreviewNeeds,
  prepared: Prepared,
): Promise<z.input<typeof CatalogPreview>> {
  const { present, before, after, from } = prepared
  const outlook = await outlookOf(
    db,
    { catalog: before, portalUrl, from },
    { now: [wordpressProduct(before, clock)], next: [wordpressProduct(after, clock)] },
  )
  const [was, is] = [sellingOf(before), sellingOf(after)]
  const ended = endedPlans(was, is)
  const having = ended.length === 0 ? new Map<number, number>() : await serversByPlan(db)
  return {
    base: present.version,
    from: from.toISOString(),
    changes: changesBetween(was, is),
    running: outlook.running,
    currencies: outlook.currencies.map((one) => ({
      ...one,
      before: Number(one.before),
      after: Number(one.after),
    })),
    kept: ended.map(({ id, name }) => ({ plan: name, servers: having.get(id ?? 0) ?? 0 })),
    letter: outlook.letter,
    needsSecond: await needsApproval(db, clock, prepared, approvedUses(db)),
  }
}

/**
 * The same preview for a publication that waits for a second member. Refuses with not_found when
 * there is no such proposal.
 */
export async function previewOfProposal(
  db: Queryable,
  needs: PreviewNeeds,
  id: string,
): Promise<z.input<typeof CatalogPreview>> {
  const row = isUuid(id)
    ? await db
        .selectFrom('operator_proposal')
        .select(['act', 'input'])
        .where('id', '=', id)
        .where('act', 'in', ['catalog.publish', 'catalog.use'])
        .executeTakeFirst()
    : undefined
  if (row?.act === 'catalog.publish') return await previewOf(db, needs, row.input as WantedSelling)
  if (!row) throw new Refusal('not_found')
  const { file, ...of } = row.input as ActInput<'catalog.use'>
  const { present, before, ...rest } = await prepareUse(db, needs.clock, { ...of, text: file })
  if (!present || !before) throw new Refusal('not_found')
  return await previewPrepared(db, needs, { present, before, ...rest })
}
