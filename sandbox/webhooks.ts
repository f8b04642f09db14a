/**
 * A gateway's webhooks: each is retried until the merchant responds as the gateway demands, at most
 * ten times. Real gateways wait minutes between attempts; here the delays begin with a second. The
 * queue is in the database, so it survives a restart.
 */
import type { Database, Transaction } from './database.ts'

export const webhookTable = `
  create table if not exists sandbox.notices (
    id bigint generated always as identity primary key,
    gateway text not null,
    payload text not null,
    attempts int not null default 0,
    next_at timestamptz not null,
    done_at timestamptz,
    last_answer text not null default ''
  );
  create index if not exists notices_due on sandbox.notices (gateway, next_at)
  where done_at is null`

/** One call, built anew for each attempt, because some signatures contain the time of sending. */
export interface WebhookCall {
  readonly method: 'GET' | 'POST'
  /** Without a question mark. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
/** How a gateway sends its webhooks. */
export interface WebhookFormat {
  readonly gateway: string
  /** The address for webhooks, without a query. */
  readonly target: () => string
  readonly call: (payload: string) => WebhookCall
  /** Whether the merchant's answer is final. */
  readonly accepts: (answer: { status: number; body: string }) => boolean
}

const attemptsAtMost = 10
/** A call that was not finished (the process ended during it) is due again after this time, ms. */
const leaseMs = 15_000
const timeoutMs = 5_000
const lateMs = 8_000
const gapMs = (attempts: number): number => Math.min(60_000, 1000 * 2 ** (attempts - 1))
/**
 * How often the queue is checked for webhooks that another sandbox left behind, and how soon after
 * a database failure; ms.
 */
const idleMs = 120_000
const troubleMs = 2_000

export interface Webhooks {
  /**
   * Queues a webhook and returns its id. With `now`, `sendNow` is to be called; if it is not, the
   * webhook is sent later. With `late`, it is sent late by itself.
   */
  add(tx: Transaction, payload: string, when: 'now' | 'late'): Promise<string>
  /**
   * Sends a queued webhook now; resolves when the merchant has answered or the time is over. Never
   * throws.
   */
  sendNow(id: string): Promise<void>
  /** Checks for due webhooks. Called after a commit that queued one. */
  wake(): void
  close(): Promise<void>
}

export function startWebhooks(
  db: Database,
  manner: WebhookFormat,
  options: { pace: number; log: (line: string) => void },
): Webhooks {
  const { pace, log } = options
  const { gateway } = manner
  const closing = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let round: Promise<void> | undefined
  const direct = new Set<Promise<void>>()
  let again = false

  async function callMerchant(payload: string): Promise<{ done: boolean; answer: string }> {
    try {
      const { method, query, headers, body } = manner.call(payload)
      const response = await fetch(
        query === undefined ? manner.target() : `${manner.target()}?${query}`,
        {
          method,
          ...(headers && { headers }),
          ...(body !== undefined && { body }),
          signal: AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
          redirect: 'manual',
        },
      )
      const answer = { status: response.status, body: (await response.text()).slice(0, 10_000) }
      return {
        done: manner.accepts(answer),
        answer: `${answer.status} ${answer.body.slice(0, 100)}`,
      }
    } catch (error) {
      return { done: false, answer: error instanceof Error ? error.name : 'failed' }
    }
  }

  /**
   * Claims and sends one webhook, the one with this id or the next due one; the claim keeps other
   * sandboxes from sending it at the same time. Returns false when there is none.
   */
  async function send(id: string | null): Promise<boolean> {
    const { rows } = await db.query<{ id: string; payload: string; attempts: number }>(
      `update sandbox.notices set attempts = attempts + 1, next_at = now() + $2 * interval '1 ms'
       where id = (select id from sandbox.notices where gateway = $3 and done_at is null
       and ($1::bigint is null and next_at <= now() or id = $1) order by next_at limit 1
       for update skip locked)
       returning id, payload, attempts`,
      [id, leaseMs, gateway],
    )
    const webhook = rows[0]
    if (webhook === undefined) return false
    const { done, answer } = await callMerchant(webhook.payload)
    if (closing.signal.aborted && !done) {
      // Our own shutdown may have interrupted the call, so it is sent again when the sandbox is
      // back.
      await db.query(
        'update sandbox.notices set next_at = now(), attempts = attempts - 1 where id = $1',
        [webhook.id],
      )
      return false
    }
    const over = done || webhook.attempts >= attemptsAtMost
    if (over && !done)
      log(`sandbox: ${gateway}: a webhook was given up after ${webhook.attempts} calls: ${answer}`)
    await db.query(
      `update sandbox.notices set done_at = case when $2 then now() end,
        next_at = now() + $3 * interval '1 ms', last_answer = $4 where id = $1`,
      [webhook.id, over, gapMs(webhook.attempts) * pace, answer],
    )
    return true
  }

  /** Milliseconds until the next one is due; 0: one is due now. */
  async function untilNext(): Promise<number> {
    const { rows } = await db.query<{ ms: number | null }>(
      `select extract(epoch from min(next_at) - now())::float8 * 1000 as ms from sandbox.notices
        where gateway = $1 and done_at is null`,
      [gateway],
    )
    return Math.max(0, Math.ceil(rows[0]?.ms ?? idleMs))
  }

  /** Sends everything that is due; returns the milliseconds until the next. */
  async function work(): Promise<number> {
    try {
      for (;;) {
        again = false
        const waitMs = await untilNext()
        let isAnySent = false
        while (waitMs === 0 && !closing.signal.aborted && (await send(null))) isAnySent = true
        // A due webhook that was not sent is claimed by another sandbox.
        if (!isAnySent && !again) return Math.min(idleMs, Math.max(5, waitMs))
      }
    } catch (error) {
      log(
        `sandbox: ${gateway}: webhooks wait for the database: ` +
          `${error instanceof Error ? error.message : 'unknown'}`,
      )
      return troubleMs
    }
  }

  function wake(): void {
    if (closing.signal.aborted) return
    again = true
    if (round !== undefined) return
    clearTimeout(timer)
    round = work().then((waitMs) => {
      round = undefined
      if (closing.signal.aborted) return
      if (again) wake()
      else timer = setTimeout(wake, waitMs).unref()
    })
  }

  wake()
  return {
    async add(tx, payload, when) {
      const { rows } = await tx.query<{ id: string }>(
        `insert into sandbox.notices (gateway, payload, next_at)
          values ($1, $2, now() + $3 * interval '1 ms') returning id`,
        [gateway, payload, when === 'now' ? leaseMs : lateMs * pace],
      )
      return rows[0]?.id ?? ''
    },
    async sendNow(id) {
      const sending = send(id).then(
        () => undefined,
        (error: unknown) =>
          log(`sandbox: ${gateway}: ${error instanceof Error ? error.message : 'unknown'}`),
      )
      direct.add(sending)
      await sending
      direct.delete(sending)
      wake()
    },
    wake,
    async close() {
      closing.abort()
      clearTimeout(timer)
      await Promise.all([round, ...direct])
    },
  }
}
