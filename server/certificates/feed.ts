/**
 * Sends the edges their certificates. An edge gets the list of names and versions, then those it
 * lacks: a restarted edge gets all, another one only the changes.
 */
import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { createRounds, type Rounds } from '../platform/rounds.ts'
import type { Secrets } from '../platform/secrets.ts'
import { keyPurpose } from './order.ts'

/** The calls to an edge; each may be repeated. */
export interface CertificateEdge {
  /**
   * Sets the list; answers the names whose version is missing there. `readAt` grows with the
   * database.
   */
  compare(
    list: readonly { readonly name: string; readonly version: number }[],
    httpsOnly: readonly (readonly [host: string, seconds: number])[],
    readAt: number,
  ): Promise<readonly string[]>
  put(
    certificates: readonly {
      readonly name: string
      readonly version: number
      readonly chain: string
      readonly key: string
      /** When it ends, ms since 1970. */
      readonly until: number
    }[],
  ): Promise<void>
  challenge(of: { token: string; host: string; answer: string }): Promise<void>
  dropChallenge(token: string): Promise<void>
}

/** Sends to the edges in rounds. */
export type Feed = Rounds

/** Certificates per message: some megabytes of text. */
const sentAtOnce = 200
/**
 * Interval after which changes by another process are sent. For 10,000 names a round reads 500 KB.
 */
const roundMs = 20_000
const yearSeconds = 31_536_000

export function createFeed(deps: {
  readonly db: Database
  readonly clock: Clock
  readonly secrets: Secrets
  readonly log: Log
  /** Edges that can be reached now. */
  readonly edges: () => readonly CertificateEdge[]
}): Feed {
  const { db, log, secrets } = deps

  async function tell(edge: CertificateEdge): Promise<void> {
    const { rows: moment } = await sql<{ at: number }>`
      select pg_snapshot_xmax(pg_current_snapshot())::text::float8 as at`.execute(db)
    const rows = await db
      .selectFrom('certificate')
      .select(['name', 'version'])
      .where('chain', 'is not', null)
      .execute()
    // A browser that was told a year keeps it until it is told zero: so zero is sent, too.
    const chosen = await db
      .selectFrom('certificate as c')
      .innerJoin('site_https as s', 's.site_id', 'c.site_id')
      .select(['c.name', 's.https_only'])
      .execute()
    const lacking = await edge.compare(
      rows.map(({ name, version }) => ({ name, version: Number(version) })),
      chosen.map(({ name, https_only: only }) => [name, only ? yearSeconds : 0] as const),
      moment[0]?.at ?? 0,
    )
    for (let at = 0; at < lacking.length; at += sentAtOnce) {
      const held = await db
        .selectFrom('certificate')
        .select(['name', 'version', 'chain', 'key_sealed', 'not_after'])
        .where('name', 'in', lacking.slice(at, at + sentAtOnce))
        .execute()
      await edge.put(
        held.flatMap(({ name, version, chain, key_sealed: key, not_after: until }) =>
          chain === null || key === null || until === null
            ? []
            : [
                {
                  name,
                  version: Number(version),
                  chain,
                  key: secrets.open(keyPurpose, key),
                  until: until.getTime(),
                },
              ],
        ),
      )
    }
  }
  async function tellAll(): Promise<void> {
    const told = await Promise.allSettled(deps.edges().map(tell))
    for (const result of told)
      if (result.status === 'rejected')
        log.warn({ err: result.reason as unknown }, 'telling an edge of certificates')
  }
  return createRounds(tellAll, roundMs)
}
