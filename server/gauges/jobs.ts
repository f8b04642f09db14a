/** The job queue, and the pool of database connections. */
import { givenUpByQueue, oldestDueSeconds, queueCounts } from '../platform/job-inspection.ts'
import { schemaVersion } from '../platform/migrations.ts'
import type { GaugeParts } from './parts.ts'

export function defineJobGauges(
  parts: Pick<GaugeParts, 'db' | 'pool' | 'poolSize' | 'metrics'>,
): void {
  const { db, pool, metrics } = parts
  metrics.source(
    {
      portal_jobs_given_up: {
        type: 'gauge',
        help: 'Jobs that failed for good and wait for `npm run portal -- jobs retry`',
        labels: ['queue'],
      },
    },
    async () => ({
      portal_jobs_given_up: Array.from(await givenUpByQueue(db), ([queue, value]) => ({
        of: { queue },
        value,
      })),
    }),
    // No index of pg-boss covers this query, so its result is cached.
    'costly',
  )
  metrics.source(
    {
      portal_jobs: {
        type: 'gauge',
        help: 'Jobs by queue and state, as of some seconds ago: deferred, ready, running',
        labels: ['queue', 'state'],
      },
    },
    async () => ({
      portal_jobs: (await queueCounts(db)).flatMap(({ queue, deferred, ready, running }) => [
        { of: { queue, state: 'deferred' }, value: deferred },
        { of: { queue, state: 'ready' }, value: ready },
        { of: { queue, state: 'running' }, value: running },
      ]),
    }),
  )
  metrics.gauge(
    'portal_jobs_oldest_due_seconds',
    'How long the oldest job that is due has waited; 0 when none is due',
    () => oldestDueSeconds(db),
  )
  metrics.source(
    {
      portal_database_connections: {
        type: 'gauge',
        help: 'Connections of the pool that are open',
      },
      portal_database_connections_idle: {
        type: 'gauge',
        help: 'Connections of the pool that nobody uses',
      },
      portal_database_connections_limit: {
        type: 'gauge',
        help: 'Most connections that the pool opens',
      },
      portal_database_waiting: { type: 'gauge', help: 'Queries that wait for a connection' },
    },
    () => ({
      portal_database_connections: pool.totalCount,
      portal_database_connections_idle: pool.idleCount,
      portal_database_connections_limit: parts.poolSize,
      portal_database_waiting: pool.waitingCount,
    }),
  )
  metrics.gauge(
    'portal_schema_version',
    'Number of the newest migration that the database has had',
    () => schemaVersion(db),
  )
}
