/**
 * Changes the size, number of containers or name of a running server. An increase is charged for
 * the rest of the month and acts with the payment, in one transaction. A decrease waits for the
 * renewal, whose payment triggers it. Disks never shrink.
 */
import { randomUUID } from 'node:crypto'
import type { Language } from '../../contract/errors.ts'
import type { Currency } from '../../contract/money.ts'
import { effectivePlanPrice, monthlyOf, type Terms } from '../../contract/pricing.ts'
import { ruleText, type RuleKey } from '../../contract/server-sentences.ts'
import { Terms as TermsSchema } from '../../contract/wallet-proof.ts'
import { holdToPrice, plannedOf, type Billing, type Offer } from '../billing/index.ts'
import type { Catalog } from '../catalog/index.ts'
import { everyPlan, plans, termsOf, type PricedPlan } from './plans.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { isReserved } from './names.ts'
import { nodeStateOf } from './nodes.ts'
import { freeOn, serves } from './placement.ts'
import { descriptionOf, subjectOf } from './product.ts'
import { lockSite, nameIsTaken, type SiteRow } from './store.ts'

/** Makes a running server match its row. Payload { siteId }. */
export const ensureJob = 'ensure-site'
/** Applies a planned change with the renewal. Payload { siteId, changeId }. */
export const resizeJob = 'resize-site'

/**
 * The number of former names that are kept for a server. Without a limit one customer could keep
 * any number of names from everybody.
 */
const formerNamesKept = 10

/** Only fields that are present are changed. */
export interface RequestedChange {
  readonly planId?: number | undefined
  /** The price that the owner was shown, minor units a month. */
  readonly planPrice?: number | undefined
  readonly name?: string | undefined
  /** Size of the files' disk, MB. */
  readonly disk?: number | undefined
  /** Size of the database's disk, MB. */
  readonly mariadbDisk?: number | undefined
  readonly containers?: number | undefined
}

interface ChangeDeps {
  readonly catalog: Catalog
  readonly billing: Billing
  readonly jobs: Jobs
}

/** A server's size at one moment, as far as its price depends on it. */
interface Shape {
  readonly plan: PricedPlan
  readonly diskMb: number
  readonly mariadbDiskMb: number
  readonly containers: number
}

const refuse = (field: string, rule: RuleKey, language: Language): never => {
  throw new Refusal('invalid_input', { fields: { [field]: ruleText(rule, language) } })
}

export async function changeServer(
  tx: Tx,
  deps: ChangeDeps,
  of: { siteId: string; language: Language; changes: RequestedChange },
): Promise<void> {
  const held = await lockSite(tx, of.siteId)
  if (held?.status !== 'running') throw new Refusal('server_not_running')
  const site = await asPaidFor(tx, deps.catalog, held)
  const renamed = of.changes.name !== undefined && of.changes.name !== site.name
  const { name } = of.changes
  if (renamed && name !== undefined) {
    if (isReserved(name, deps.catalog.brand.name)) refuse('name', 'server_name_taken', of.language)
    await rename(tx, site, name, of.language)
    if (site.subscription_id !== null)
      await deps.billing.rename(tx, site.subscription_id, subjectOf(site.id, name))
  }
  await resize(
    tx,
    deps,
    renamed && name !== undefined ? { ...site, name } : site,
    of.changes,
    of.language,
  )
  if (renamed) await deps.jobs.add(tx, ensureJob, { siteId: site.id })
}

/**
 * The row as it is paid for. A job applies a planned change after the renewal: a request before
 * that job ran is judged by what the renewal paid for. No renewal comes in between, because the
 * subscription is locked.
 */
async function asPaidFor(tx: Tx, catalog: Catalog, site: SiteRow): Promise<SiteRow> {
  if (site.planned_id === null || site.subscription_id === null) return site
  const { status, planned } = await tx
    .selectFrom('subscription')
    .select(['status', 'planned'])
    .where('id', '=', site.subscription_id)
    .forUpdate()
    .executeTakeFirstOrThrow()
  if (status !== 'active' || planned !== null) return site
  await takePlanned(tx, catalog, { siteId: site.id, changeId: site.planned_id })
  return (await lockSite(tx, site.id)) ?? site
}

async function rename(tx: Tx, site: SiteRow, name: string, language: Language): Promise<void> {
  try {
    // Another site's name, now or from before, is refused by the table of host names.
    await tx.updateTable('site').set({ name }).where('id', '=', site.id).execute()
  } catch (error) {
    if (nameIsTaken(error)) refuse('name', 'server_name_taken', language)
    throw error
  }
  const latest = tx
    .selectFrom('host')
    .select('name')
    .where('site_id', '=', site.id)
    .where('kind', '=', 'former')
    .orderBy('seq', 'desc')
    .limit(formerNamesKept)
  await tx
    .deleteFrom('host')
    .where('site_id', '=', site.id)
    .where('kind', '=', 'former')
    .where('name', 'not in', latest)
    .execute()
}

async function resize(
  tx: Tx,
  deps: ChangeDeps,
  site: SiteRow,
  changes: RequestedChange,
  language: Language,
): Promise<void> {
  const { catalog, billing } = deps
  const { diskMb, mariadbDiskMb } = {
    diskMb: changes.disk ?? site.disk_mb,
    mariadbDiskMb: changes.mariadbDisk ?? site.mariadb_disk_mb,
  }
  if (diskMb < site.disk_mb || mariadbDiskMb < site.mariadb_disk_mb)
    throw new Refusal('disk_shrink')
  const node = await nodeStateOf(tx, site)
  const { running, planned: plannedTerms } = await termsOfSite(tx, catalog, site)
  const present = planOf(site, running)
  const offered = plans(catalog, site.currency as Currency).filter(({ ram, cpu }) =>
    serves(node, { ramMb: ram, cpu }),
  )
  const find = (id: number): PricedPlan => {
    const plan = id === site.plan_id ? present : offered.find((candidate) => candidate.id === id)
    return plan ?? refuse('size', 'unknown_plan', language)
  }
  // A planned plan that is no longer in the catalogue will not take effect: it blocks no other
  // change.
  const plannedInCatalog = everyPlan(catalog, site.currency as Currency).find(
    ({ id, ram, cpu }) =>
      id === site.planned_plan_id && id !== site.plan_id && serves(node, { ramMb: ram, cpu }),
  )
  // The planned plan keeps the price at which it was planned, whatever else is changed meanwhile.
  const plannedPlan = plannedInCatalog && {
    ...plannedInCatalog,
    ...(plannedTerms?.plan === plannedInCatalog.name && {
      price: plannedTerms.price,
      sale_price: plannedTerms.sale_price,
    }),
  }
  const wantedPlan = changes.planId === undefined ? (plannedPlan ?? present) : find(changes.planId)
  if (changes.planId !== undefined && wantedPlan !== present)
    holdToPrice(
      changes.planPrice,
      BigInt(effectivePlanPrice(wantedPlan)),
      site.currency as Currency,
    )
  const wantedContainers = changes.containers ?? site.planned_containers ?? site.containers
  if (
    changes.containers !== undefined &&
    changes.containers > Math.max(site.containers, node.maxContainers)
  )
    refuse('replicate', 'containers_limit', language)
  // Two changes at the same moment may both find room: a node that is full starts fewer containers.
  if (wantedContainers > site.containers && wantedContainers - site.containers > freeOn(node))
    refuse('replicate', 'containers_no_room', language)

  const later: Shape = { plan: wantedPlan, diskMb, mariadbDiskMb, containers: wantedContainers }
  // A change planned earlier waits for the renewal, whatever it costs by now.
  const actsNow =
    changes.planId !== undefined && effectivePlanPrice(wantedPlan) >= effectivePlanPrice(present)
  const now: Shape = {
    plan: actsNow ? wantedPlan : present,
    diskMb,
    mariadbDiskMb,
    containers: Math.max(wantedContainers, site.containers),
  }
  const grows =
    now.plan.id !== site.plan_id ||
    diskMb !== site.disk_mb ||
    mariadbDiskMb !== site.mariadb_disk_mb ||
    now.containers !== site.containers
  const shrinks = later.plan.id !== now.plan.id || later.containers !== now.containers
  const changed =
    later.plan.id !== (site.planned_plan_id ?? site.plan_id) ||
    later.containers !== (site.planned_containers ?? site.containers)
  if (!grows && !changed) return

  const offer = (shape: Shape): Offer => offerOf(catalog, site, running, shape)
  const { subscription_id: subscriptionId } = site
  if (subscriptionId === null) throw new Error(`site ${site.id} has no subscription`)
  // This withdraws a planned change: the price is the present one, and nothing stays planned.
  if (grows || !shrinks)
    await billing.changePrice(tx, {
      subscriptionId,
      to: offer(now),
      change: {},
      starts: { job: ensureJob, payload: { siteId: site.id } },
    })
  let planned:
    | { planned_id: string; planned_plan_id: number; planned_containers: number }
    | undefined
  if (shrinks) {
    const changeId = randomUUID()
    const { outcome } = await billing.changePrice(tx, {
      subscriptionId,
      to: offer(later),
      change: { size: later.plan.id, replicate: later.containers },
      starts: { job: resizeJob, payload: { siteId: site.id, changeId } },
    })
    // A decrease at a price that is no lower takes effect at once: the job that its payment starts
    // finds the planned change.
    planned = {
      planned_id: changeId,
      planned_plan_id: later.plan.id,
      planned_containers: later.containers,
    }
    if (outcome === 'charged') await deps.jobs.add(tx, resizeJob, { siteId: site.id, changeId })
  }
  await tx
    .updateTable('site')
    .set({
      ...planColumns(now.plan),
      disk_mb: diskMb,
      mariadb_disk_mb: mariadbDiskMb,
      containers: now.containers,
      price: offer(now).price,
      planned_id: null,
      planned_plan_id: null,
      planned_containers: null,
      ...planned,
    })
    .where('id', '=', site.id)
    .execute()
}

const planColumns = (plan: PricedPlan) => ({
  plan_id: plan.id,
  plan_name: plan.name,
  cpu: plan.cpu,
  ram_mb: plan.ram,
})

/** The plan as it was sold, at the price of the running month. */
const planOf = (site: SiteRow, { price, sale_price }: Terms): PricedPlan => ({
  id: site.plan_id,
  name: site.plan_name,
  cpu: site.cpu,
  ram: site.ram_mb,
  price,
  sale_price,
  currency: site.currency as Currency,
})

/**
 * The terms of the running month, and those of the planned change. An order from before terms were
 * stored is priced by the present catalogue.
 */
async function termsOfSite(
  tx: Tx,
  catalog: Catalog,
  site: SiteRow,
): Promise<{ running: Terms; planned: Terms | undefined }> {
  const row = await tx
    .selectFrom('subscription')
    .select(['terms', 'planned'])
    .where('id', '=', site.subscription_id)
    .executeTakeFirst()
  const planned = TermsSchema.safeParse(plannedOf(row?.planned ?? null)?.to?.terms).data
  const kept = TermsSchema.safeParse(row?.terms)
  return { running: kept.success ? kept.data : termsNow(catalog, site), planned }
}

function termsNow(catalog: Catalog, site: SiteRow): Terms {
  const currency = site.currency as Currency
  const plan = plans(catalog, currency).find(({ id }) => id === site.plan_id)
  if (!plan) throw new Error(`nothing is known of the price of site ${site.id}`)
  return termsOf(catalog, currency, {
    plan,
    diskMb: site.disk_mb,
    mariadbDiskMb: site.mariadb_disk_mb,
    containers: site.containers,
  })
}

/** Prices disks at the rates of the running month, so that an unchanged disk costs what it did. */
function offerOf(catalog: Catalog, site: SiteRow, running: Terms, shape: Shape): Offer {
  const terms: Terms = {
    ...termsOf(catalog, site.currency as Currency, shape),
    disk_per_gb: running.disk_per_gb,
    mariadb_per_gb: running.mariadb_per_gb,
  }
  return {
    price: BigInt(monthlyOf(terms).total),
    terms,
    description: descriptionOf(site.name, shape.plan.name, shape.diskMb, shape.containers),
  }
}

/** Applies the planned change, if it is still the one that the renewal was paid for. */
export async function takePlanned(
  tx: Tx,
  catalog: Catalog,
  { siteId, changeId }: { siteId: string; changeId: string },
): Promise<void> {
  const site = await lockSite(tx, siteId)
  if (site?.planned_id !== changeId || site.planned_containers === null) return
  const plan = everyPlan(catalog, site.currency as Currency).find(
    ({ id }) => id === site.planned_plan_id,
  )
  await tx
    .updateTable('site')
    .set({
      // A plan that is no longer in the catalogue cannot be renewed: the server keeps its present
      // one.
      ...(plan && planColumns(plan)),
      containers: site.planned_containers,
      planned_id: null,
      planned_plan_id: null,
      planned_containers: null,
    })
    .where('id', '=', siteId)
    .execute()
}
