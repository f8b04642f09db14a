/**
 * Addresses of the operator's own programs, for the acts of the desk: they get all customers'
 * events (decision 131). The act checks permissions.
 */
import { sql } from 'kysely'
import { mostResent, type OperatorWebhook } from '../../contract/operator-webhooks.ts'
import type { Delivery } from '../../contract/webhooks.ts'
import type { KeysetPage, PageRequest } from '../platform/cursor.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  rotateSecret,
  type EndpointNeeds,
} from './endpoints.ts'
import { addressLetterToStaff } from './letter.ts'
import type { Sender } from './send.ts'
import {
  addTest,
  deliveriesOf,
  lockCalled,
  ownEndpoint,
  presentDelivery,
  presentWebhook,
  sendAgain,
} from './store.ts'

/** The operator owns what no customer does. */
const customerId = null

export interface OutgoingNeeds extends EndpointNeeds {
  readonly sender: Pick<Sender, 'wake'>
  readonly portalUrl: string
  /** E-mail addresses of the owners. */
  readonly owners: (db: Queryable) => Promise<readonly string[]>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
}

/** The desk's acts on outgoing webhooks. Each refuses with not_found. */
export interface OutgoingWebhooks {
  /** `by`: the author that the owners are told. Refuses with invalid_input, conflict. */
  add(
    tx: Tx,
    of: { readonly url: string; readonly events: readonly string[]; readonly by: string },
  ): Promise<{ webhook: OperatorWebhook; secret: string }>
  change(
    tx: Tx,
    of: {
      readonly id: string
      readonly url?: string | undefined
      readonly events?: readonly string[] | undefined
      readonly by: string
    },
  ): Promise<Changed>
  renewSecret(tx: Tx, id: string): Promise<{ webhook: OperatorWebhook; secret: string }>
  remove(tx: Tx, id: string): Promise<OperatorWebhook>
  setCalled(tx: Tx, id: string, isCalled: boolean): Promise<Changed>
  /** Answers the delivery's id. Refuses with conflict one that is switched off. */
  test(tx: Tx, id: string): Promise<{ webhook: OperatorWebhook; delivery: string }>
  resend(tx: Tx, id: string, delivery: string): Promise<{ webhook: OperatorWebhook; event: string }>
  /** Answers how many are sent again, and whether more are left. */
  resendFailed(
    tx: Tx,
    id: string,
    since: Date,
  ): Promise<{ webhook: OperatorWebhook; sent: number; isMore: boolean }>
}
interface Changed {
  readonly before: OperatorWebhook
  readonly after: OperatorWebhook
}

export function createOutgoingWebhooks(needs: OutgoingNeeds): OutgoingWebhooks {
  const { clock, sender } = needs
  const shown = async (tx: Tx, id: string): Promise<OperatorWebhook> =>
    presentWebhook(await ownEndpoint(tx, customerId, id), clock.now())
  const called = async (tx: Tx, id: string): Promise<OperatorWebhook> =>
    presentWebhook(await lockCalled(tx, customerId, id), clock.now())

  async function tellOwners(tx: Tx, { id, url }: OperatorWebhook, by: string): Promise<void> {
    const link = `${needs.portalUrl}/operator/outgoing/${id}`
    const { subject, text } = addressLetterToStaff({ url, link }, by)
    for (const to of await needs.owners(tx)) await needs.mail(tx, to, subject, text)
  }

  return {
    async add(tx, { url, events, by }) {
      const made = await createEndpoint(tx, needs, { customerId, url, events })
      await tellOwners(tx, made.webhook, by)
      return made
    },
    async change(tx, { by, ...to }) {
      const before = await shown(tx, to.id)
      const after = await changeEndpoint(tx, needs, { customerId, ...to })
      if (after.url !== before.url) await tellOwners(tx, after, by)
      return { before, after }
    },
    renewSecret: (tx, id) => rotateSecret(tx, needs, { customerId, id }),
    async remove(tx, id) {
      const before = await shown(tx, id)
      await deleteEndpoint(tx, customerId, id)
      return before
    },
    async setCalled(tx, id, enabled) {
      const before = await shown(tx, id)
      return { before, after: await changeEndpoint(tx, needs, { customerId, id, enabled }) }
    },
    async test(tx, id) {
      const webhook = await called(tx, id)
      const delivery = await addTest(tx, clock.now(), webhook.id)
      sender.wake(tx, [webhook.id])
      return { webhook, delivery }
    },
    async resend(tx, id, delivery) {
      const webhook = await called(tx, id)
      const of = { endpointId: webhook.id, id: delivery }
      const { event } = await sendAgain(tx, clock.now(), of)
      sender.wake(tx, [webhook.id])
      return { webhook, event }
    },
    async resendFailed(tx, id, since) {
      const webhook = await called(tx, id)
      const { rows } = await sql`
        select id from webhook_delivery
        where endpoint_id = ${webhook.id} and state = 'failed' and created_at >= ${since}
        order by seq limit ${mostResent + 1}`.execute(tx)
      const { numAffectedRows = 0n } = await sql`
        update webhook_delivery set state = 'waiting', next_at = ${clock.now()}, tries = 0
        where id in (
          select id from webhook_delivery
          where endpoint_id = ${webhook.id} and state = 'failed' and created_at >= ${since}
          order by seq limit ${mostResent})`.execute(tx)
      sender.wake(tx, [webhook.id])
      return { webhook, sent: Number(numAffectedRows), isMore: rows.length > mostResent }
    },
  }
}

/** The newest first. */
export const listOutgoing = (db: Queryable, clock: Clock): Promise<OperatorWebhook[]> =>
  listEndpoints(db, clock, customerId)

/** One address and a page of its deliveries, newest first. Refuses with not_found. */
export async function outgoingDeliveries(
  {
    db,
    clock,
    complete,
  }: {
    readonly db: Queryable
    readonly clock: Clock
    readonly complete: (payload: object) => object
  },
  id: string,
  page: PageRequest,
): Promise<KeysetPage<Delivery> & { readonly webhook: OperatorWebhook }> {
  const endpoint = await ownEndpoint(db, customerId, id)
  const { rows, next } = await deliveriesOf(db, endpoint.id, page)
  return {
    webhook: presentWebhook(endpoint, clock.now()),
    rows: rows.map((row) => presentDelivery(row, endpoint, complete)),
    next,
  }
}
