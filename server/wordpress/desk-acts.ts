/** The operator's acts on an order or server that does not come to an end by itself. */
import { jobNames } from '../billing/index.ts'
import type { Currency } from '../../contract/money.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { startNow } from '../platform/job-inspection.ts'
import type { Jobs } from '../platform/jobs.ts'
import { ensureJob } from './change.ts'
import { provisionJob } from './order.ts'
import { alignJobs } from './product.ts'
import { hasRun, lockSite, type SiteRow } from './store.ts'

interface Needs {
  readonly jobs: Pick<Jobs, 'add'>
}
/** The server before the act, for the trail. */
export interface ServerAct {
  readonly customerId: string
  readonly name: string
  readonly before: string
}

const refuse = (server: Sentence): never => {
  throw new Refusal('conflict', { fields: { server } })
}

/** The server, locked until the transaction ends. Refuses with not_found. */
async function known(tx: Tx, id: string): Promise<SiteRow> {
  const site = isUuid(id) ? await lockSite(tx, id) : undefined
  if (!site || site.deleted_at !== null) throw new Refusal('not_found')
  return site
}

/** The job that works on the server; undefined: no job works on it, and none will by itself. */
function workOn(site: SiteRow): { job: string; key: string; value: string } | undefined {
  const { id, status, subscription_id: subscription, invoice_id: invoice } = site
  if (status === 'provisioning' || status === 'failed')
    return { job: provisionJob, key: 'siteId', value: id }
  if (status === 'running') return { job: ensureJob, key: 'siteId', value: id }
  if (status === 'deleting' && subscription !== null)
    return { job: alignJobs.remove, key: 'subscriptionId', value: subscription }
  if (status === 'pending_payment' && invoice !== null)
    return { job: jobNames.pay, key: 'invoiceId', value: invoice }
  return undefined
}

async function begin(tx: Tx, { jobs }: Needs, site: SiteRow): Promise<void> {
  const work = workOn(site)
  if (!work)
    return refuse({
      en: 'A suspended server waits for its payment, or for its release.',
      vi: 'Máy chủ đang tạm ngưng chờ thanh toán hoặc chờ mở lại.',
    })
  const { job, key, value } = work
  if ((await startNow(tx, job, { key, value })) === 'none')
    await jobs.add(tx, job, { [key]: value })
}

/**
 * Has the server's pending work tried now: an order charged, a server set up, restarted, cleaned
 * away or deleted. A server that is being set up gets all its tries again. Refuses with not_found,
 * and with conflict where the next step is the owner's.
 */
export async function retryServer(tx: Tx, needs: Needs, id: string): Promise<ServerAct> {
  const site = await known(tx, id)
  if (site.status === 'provisioning' && site.giving_up === null)
    await tx.updateTable('site').set({ attempts: 0 }).where('id', '=', id).execute()
  if (site.status === 'running' && site.generation === site.settled_generation)
    await tx
      .updateTable('site')
      .set((eb) => ({ generation: eb('generation', '+', 1) }))
      .where('id', '=', id)
      .execute()
  await begin(tx, needs, site)
  return { customerId: site.customer_id, name: site.name, before: site.status }
}

/**
 * Gives up an order that was not delivered, as setting it up does by itself after its last try: the
 * job removes what exists, a credit note returns what was paid to the wallet, and what was not paid
 * is no longer due. `told`: the reason that the customer reads. Refuses with not_found, and with
 * conflict if the order was delivered or is given up.
 */
export async function giveUpOrder(
  tx: Tx,
  { jobs }: Needs,
  id: string,
  told: string,
): Promise<ServerAct> {
  const site = await known(tx, id)
  const { status } = site
  if (status !== 'provisioning' && status !== 'pending_payment')
    return refuse({
      en: 'Only what was ordered and not delivered yet is given up.',
      vi: 'Chỉ có thể huỷ đơn hàng chưa được bàn giao.',
    })
  if (site.giving_up !== null)
    return refuse({
      en: 'This order is being given up already.',
      vi: 'Đơn hàng này đang được huỷ.',
    })
  await tx.updateTable('site').set({ giving_up: told }).where('id', '=', id).execute()
  // A run under way completes nothing any more; the job added here gives the order up.
  const started = await startNow(tx, provisionJob, { key: 'siteId', value: id })
  if (started !== 'started') await jobs.add(tx, provisionJob, { siteId: id })
  return { customerId: site.customer_id, name: site.name, before: status }
}

/**
 * A server that was delivered, locked until the transaction ends, with the subscription that is
 * cancelled for it. Refuses with not_found, and with conflict if the server was not delivered or is
 * being deleted.
 */
export async function cancellable(
  tx: Tx,
  id: string,
): Promise<ServerAct & { readonly subscriptionId: string; readonly currency: Currency }> {
  const site = await known(tx, id)
  if (site.status === 'deleting')
    return refuse({
      en: 'This server is being deleted already.',
      vi: 'Máy chủ này đang được xoá.',
    })
  if (!hasRun(site) || site.subscription_id === null)
    return refuse({
      en: 'This server was not delivered: give up its order instead.',
      vi: 'Máy chủ này chưa được bàn giao: hãy huỷ đơn hàng.',
    })
  return {
    customerId: site.customer_id,
    name: site.name,
    before: site.status,
    subscriptionId: site.subscription_id,
    currency: site.currency as Currency,
  }
}

/**
 * The customer of an order, and how much of it is paid (minor units); undefined: there is no such
 * order.
 */
export async function orderOf(
  db: Queryable,
  id: string,
): Promise<{ customerId: string; paid: bigint; currency: Currency } | undefined> {
  if (!isUuid(id)) return undefined
  const row = await db
    .selectFrom('site as s')
    .leftJoin('invoice as i', 'i.id', 's.invoice_id')
    .select(['s.customer_id', 's.currency', 'i.amount_paid'])
    .where('s.id', '=', id)
    .executeTakeFirst()
  return (
    row && {
      customerId: row.customer_id,
      paid: row.amount_paid ?? 0n,
      currency: row.currency as Currency,
    }
  )
}
