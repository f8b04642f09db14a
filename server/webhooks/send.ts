/**
 * Events become deliveries, and deliveries are sent: at least once, each under its own id, and
 * retried with growing delays for a day. One process calls an address at a time, one delivery after
 * the other, for a limited time: a slow or dead receiver occupies one worker for a while and delays
 * no other receiver.
 */
import { sql } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import type { WebhookAttempt } from '../../contract/webhooks.ts'
import { days, later, minutes, seconds, type Clock } from '../platform/clock.ts'
import { onCommit, transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { OnSent } from '../realtime/index.ts'
import { secretsOf } from './endpoints.ts'
import { disabledLetter, disabledLetterToStaff } from './letter.ts'
import type { CallOutcome, Receivers } from './receiver.ts'
import { signedHeaders } from './signature.ts'
import { bodyOf, failWaiting, type DeliveryRow, type EndpointRow, type Owner } from './store.ts'

const sendJob = 'send-webhooks'

/** Seconds before each further try: together a day. */
const delaysSeconds: readonly number[] = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 50_400]
/** An address whose every call has failed for this long is switched off. */
const givenUpMs = days(5)
/** Time per run and address, because other addresses wait for the same workers. */
const runMs = seconds(20)
/** Longer than a run and its last call; by the wall clock. */
const leaseSeconds = 60
/**
 * Workers per process; and addresses of one owner that are called in parallel, over all processes.
 */
const workers = 16
const atOnceOfCustomer = 2
const atOnceOfOperator = 4
const attemptsKept = 20
/** As many as the relay makes in one batch with the same time. */
const sortedAtOnce = 500
/** How long other deliveries to a receiver that did not answer are put off. */
const shortestPauseMs = seconds(30)
const longestPauseMs = minutes(15)

export interface SendNeeds {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Pick<Jobs, 'add' | 'define'>
  readonly secrets: Secrets
  readonly receivers: Receivers
  /** Adds values that are not stored, such as links, to a payload. */
  readonly complete: (payload: object) => object
  readonly customer: (
    db: Queryable,
    id: string,
  ) => Promise<{ readonly email: string; readonly language: Language }>
  /** Email addresses of the members who may change the operator's addresses. */
  readonly members: (db: Queryable) => Promise<readonly string[]>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly portalUrl: string
  /** Seconds before each further try, where a test shortens them. */
  readonly delaysSeconds?: readonly number[] | undefined
}

export interface Sender {
  /** Queues the due deliveries of these endpoints, after `tx` is committed. */
  wake(tx: Tx, endpointIds: readonly string[]): void
  readonly onSent: OnSent
}

interface Called {
  readonly endpointId: string
}

/**
 * Adds the deliveries of events to the endpoints that subscribe to them: the operator's get
 * `customer_id` too.
 */
export function createSender(needs: Pick<SendNeeds, 'db' | 'clock' | 'log' | 'jobs'>): Sender {
  const { db, clock, log, jobs } = needs
  const sender: Sender = {
    wake(tx, endpointIds) {
      if (endpointIds.length === 0) return
      // The relay must not wait for the queue; a lost job is found within a minute.
      onCommit(tx, () => {
        transaction(db, async (own) => {
          for (const endpointId of new Set(endpointIds))
            await jobs.add(own, sendJob, { endpointId })
        }).catch((error: unknown) => log.warn({ err: error }, 'webhooks wait for the next look'))
      })
    },
    async onSent(tx, events) {
      const told = JSON.stringify(
        events.map(({ customerId, event, payload, forCustomer }) => {
          return { customerId, event, payload, forCustomer }
        }),
      )
      const now = clock.now()
      const ofCustomers = await sql<Called>`
        insert into webhook_delivery
          (id, endpoint_id, event, payload, state, next_at, created_at)
        select gen_random_uuid(), e.id, one.told ->> 'event', one.told -> 'payload', 'waiting',
          ${now}::timestamptz, ${now}::timestamptz
        from jsonb_array_elements(${told}::jsonb) with ordinality as one (told, at)
        join webhook_endpoint e on e.customer_id = (one.told ->> 'customerId')::uuid
          and one.told ->> 'event' = any(e.events) and e.disabled_at is null
        where (one.told ->> 'forCustomer')::boolean
        order by one.at
        returning endpoint_id as "endpointId"`.execute(tx)
      const ofOperator = await sql<Called>`
        with made as (
          select gen_random_uuid() as id, e.id as endpoint_id, one.told, one.at,
            (one.told ->> 'customerId')::uuid as customer_id
          from jsonb_array_elements(${told}::jsonb) with ordinality as one (told, at)
          join webhook_endpoint e on e.customer_id is null
            and one.told ->> 'event' = any(e.events) and e.disabled_at is null
        ), added as (
          insert into webhook_delivery
            (id, endpoint_id, event, payload, state, next_at, created_at)
          select id, endpoint_id, told ->> 'event',
            jsonb_build_object('customer_id', customer_id) || (told -> 'payload'), 'waiting',
            ${now}::timestamptz, ${now}::timestamptz
          from made order by at
          returning endpoint_id
        ), subjects as (
          insert into webhook_subject (delivery_id, customer_id)
          select id, customer_id from made where customer_id is not null
        )
        select endpoint_id as "endpointId" from added`.execute(tx)
      sender.wake(
        tx,
        [...ofCustomers.rows, ...ofOperator.rows].map(({ endpointId }) => endpointId),
      )
    },
  }
  return sender
}

const isOf = (owner: Owner) =>
  owner === null ? sql`customer_id is null` : sql`customer_id = ${owner}`
/**
 * Whether an address `e` has a due delivery and no process calls it. Deliveries that were due when
 * its receiver did not answer wait until the pause is over.
 */
const isDue = (now: Date) => sql`
  disabled_at is null and (claimed_until is null or claimed_until < now())
  and exists (select from webhook_delivery d where d.endpoint_id = e.id
    and d.state = 'waiting' and d.next_at <= ${now}
    and (e.put_off_until is null or e.put_off_until <= ${now} or d.next_at > e.put_off_at))`

const isDelivered = ({ status }: CallOutcome): boolean =>
  status !== null && status >= 200 && status < 300
/** The receiver does not want it any more (RFC 9110, 15.5.11). */
const gone = 410

export function defineSending(needs: SendNeeds, sender: Sender): void {
  const { db, clock, log, jobs, secrets } = needs
  const delays = needs.delaysSeconds ?? delaysSeconds

  /**
   * Undefined: another process calls this address, enough others of its owner are called, or it is
   * called no more.
   */
  const claim = (endpointId: string): Promise<EndpointRow | undefined> =>
    transaction(db, async (tx) => {
      const called = await tx
        .selectFrom('webhook_endpoint')
        .select('customer_id')
        .where('id', '=', endpointId)
        .executeTakeFirst()
      if (!called) return undefined
      const { rows: all } = await sql<{ id: string; isBusy: boolean }>`
        select id, coalesce(claimed_until > now(), false) as "isBusy" from webhook_endpoint
        where ${isOf(called.customer_id)} order by id for update`.execute(tx)
      const busy = all.filter(({ isBusy }) => isBusy)
      const atOnce = called.customer_id === null ? atOnceOfOperator : atOnceOfCustomer
      if (busy.length >= atOnce || busy.some(({ id }) => id === endpointId)) return undefined
      const { rows } = await sql<EndpointRow>`
        update webhook_endpoint set claimed_until = now() + ${leaseSeconds} * interval '1 s'
        where id = ${endpointId} and disabled_at is null returning *`.execute(tx)
      return rows[0]
    })
  const release = (endpointId: string) =>
    db
      .updateTable('webhook_endpoint')
      .set({ claimed_until: null })
      .where('id', '=', endpointId)
      .execute()
  /** An owner's addresses with a due delivery that no process calls. */
  const dueOf = async (owner: Owner): Promise<string[]> => {
    const { rows } = await sql<{ id: string }>`
      select id from webhook_endpoint e
      where ${isOf(owner)} and ${isDue(clock.now())}`.execute(db)
    return rows.map(({ id }) => id)
  }
  /**
   * In the order of events, as far as the batch reaches: repeated deliveries share one due time.
   */
  const nextDue = (endpoint: EndpointRow): Promise<DeliveryRow | undefined> => {
    const now = clock.now()
    const { put_off_at: from, put_off_until: until } = endpoint
    return db
      .selectFrom((eb) =>
        eb
          .selectFrom('webhook_delivery')
          .selectAll()
          .where('endpoint_id', '=', endpoint.id)
          .where('state', '=', 'waiting')
          .where('next_at', '<=', now)
          .$if(until !== null && until > now, (query) => query.where('next_at', '>', from))
          .orderBy('next_at')
          .limit(sortedAtOnce)
          .as('due'),
      )
      .selectAll()
      .orderBy('next_at')
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst()
  }

  async function disable(tx: Tx, endpoint: EndpointRow, reason: 'failing' | 'gone') {
    await tx
      .updateTable('webhook_endpoint')
      .set({ disabled_at: clock.now(), disabled_reason: reason })
      .where('id', '=', endpoint.id)
      .execute()
    await failWaiting(tx, [endpoint.id])
    const { url, customer_id: owner } = endpoint
    if (owner === null) {
      const link = `${needs.portalUrl}/operator/outgoing/${endpoint.id}`
      const { subject, text } = disabledLetterToStaff({ url, reason, link })
      for (const to of await needs.members(tx)) await needs.mail(tx, to, subject, text)
      return
    }
    const { email, language } = await needs.customer(tx, owner)
    const link = `${needs.portalUrl}/account/webhooks/${endpoint.id}`
    const { subject, text } = disabledLetter(language, { url, reason, link })
    await needs.mail(tx, email, subject, text)
  }

  /**
   * Pauses a receiver that did not answer; waiting deliveries lose no try. Many may wait for the
   * operator's addresses, so one row is written instead of one per delivery.
   */
  async function putOff(tx: Tx, endpoint: EndpointRow, since: Date): Promise<void> {
    const now = clock.now()
    const failingMs = now.getTime() - since.getTime()
    const pauseMs = Math.min(longestPauseMs, Math.max(shortestPauseMs, failingMs / 10))
    await tx
      .updateTable('webhook_endpoint')
      .set({ put_off_at: now, put_off_until: later(now, pauseMs) })
      .where('id', '=', endpoint.id)
      .execute()
  }

  /** @param url the address that was called: its owner may have changed it meanwhile */
  async function settle(delivery: DeliveryRow, outcome: CallOutcome, url: string): Promise<void> {
    const now = clock.now()
    const { status, error, ms, answer } = outcome
    const attempt: WebhookAttempt = { at: now.toISOString(), status, error, ms }
    await transaction(db, async (tx) => {
      // Lock the address first, as every other change of it does.
      const endpoint = await tx
        .selectFrom('webhook_endpoint')
        .selectAll()
        .where('id', '=', delivery.endpoint_id)
        .forNoKeyUpdate()
        .executeTakeFirst()
      const row = await tx
        .selectFrom('webhook_delivery')
        .selectAll()
        .where('id', '=', delivery.id)
        .forNoKeyUpdate()
        .executeTakeFirst()
      // Deleted meanwhile.
      if (!endpoint || !row) return
      const attempts = [...(row.attempts as unknown as WebhookAttempt[]), attempt]
      const tries = row.tries + 1
      const delay = delays[tries - 1]
      const isDone = isDelivered(outcome)
      const waits = !isDone && delay !== undefined && endpoint.disabled_at === null
      const ended = isDone ? 'delivered' : 'failed'
      await tx
        .updateTable('webhook_delivery')
        .set({
          attempts: JSON.stringify(attempts.slice(-attemptsKept)),
          answer,
          tries,
          state: waits ? 'waiting' : ended,
          next_at: waits ? later(now, seconds(delay)) : null,
        })
        .where('id', '=', row.id)
        .execute()
      // The result of a previous address says nothing about the present one.
      if (endpoint.url !== url) return
      const since = isDone ? null : (endpoint.failing_since ?? now)
      await tx
        .updateTable('webhook_endpoint')
        .set({ failing_since: since })
        .where('id', '=', endpoint.id)
        .execute()
      if (since === null || endpoint.disabled_at !== null) return
      if (status === gone) await disable(tx, endpoint, 'gone')
      else if (now.getTime() - since.getTime() >= givenUpMs) await disable(tx, endpoint, 'failing')
      else {
        if (status === null) await putOff(tx, endpoint, since)
        if (waits) {
          // The queue goes by the wall clock, whatever ours says.
          const startAfter = new Date(Date.now() + seconds(delay))
          await jobs.add(tx, sendJob, { endpointId: endpoint.id }, { startAfter })
        }
      }
    })
  }

  jobs.define<{ endpointId: string }>({
    name: sendJob,
    concurrency: workers,
    retries: 3,
    limitSeconds: 2 * leaseSeconds,
    async run({ endpointId }, { signal }) {
      const endpoint = await claim(endpointId)
      if (!endpoint) return
      const until = performance.now() + runMs
      try {
        while (!signal.aborted && performance.now() < until) {
          const delivery = await nextDue(endpoint)
          if (!delivery) break
          const body = bodyOf(delivery, needs.complete)
          const at = clock.now()
          const headers = signedHeaders(secretsOf(endpoint, secrets, at), {
            id: delivery.id,
            at,
            body,
          })
          const outcome = await needs.receivers.call(endpoint.url, headers, body, signal)
          await settle(delivery, outcome, endpoint.url)
          // Address, secrets and whether it is called at all may have changed.
          if (outcome.status === null) break
          if (!(await isSame(endpoint))) break
        }
      } finally {
        await release(endpointId)
      }
      // Check once more after the release: jobs that came meanwhile were turned away.
      const due = signal.aborted ? [] : await dueOf(endpoint.customer_id)
      if (due.length > 0) await transaction(db, async (tx) => sender.wake(tx, due))
    },
  })

  /** Whether the address is still called, and as it was claimed. */
  async function isSame({ id, url, secret }: EndpointRow): Promise<boolean> {
    const row = await db
      .selectFrom('webhook_endpoint')
      .select(['url', 'secret', 'disabled_at'])
      .where('id', '=', id)
      .executeTakeFirst()
    return row?.disabled_at === null && row.url === url && row.secret.equals(secret)
  }

  jobs.define({
    name: 'find-due-webhooks',
    cron: '* * * * *',
    retries: 0,
    async run() {
      const { rows } = await sql<{ id: string }>`
        select id from webhook_endpoint e where ${isDue(clock.now())} limit 1000`.execute(db)
      await transaction(db, async (tx) =>
        sender.wake(
          tx,
          rows.map(({ id }) => id),
        ),
      )
      if (rows.length > 0) log.debug({ addresses: rows.length }, 'webhooks that were due')
    },
  })
}
