/** Visits and resource use of a server over time. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

/** Hours that are shown, and the minutes that each point covers. */
export const usageRanges = {
  day: { hours: 24, minutes: 5 },
  week: { hours: 7 * 24, minutes: 60 },
  quarter: { hours: 90 * 24, minutes: 1_440 },
} as const
export type UsageRange = keyof typeof usageRanges

export const UsagePoint = z.object({
  /** The beginning of the point's span. */
  at: z.string(),
  requests: z.int(),
  /** Answers with status 4xx, and with 5xx. */
  clientErrors: z.int(),
  serverErrors: z.int(),
  /** Answers that were kept pages or files. */
  cached: z.int(),
  /** Answer time, ms: median and 95th percentile. Null without answers. */
  medianMs: z.nullable(z.int()),
  p95Ms: z.nullable(z.int()),
  /** Peak memory of all its containers together, MB. */
  memory: z.int(),
  /** Average CPU use, in per cent of one processor. */
  cpu: z.number(),
  /** MB. */
  disk: z.int(),
  mariadb_disk_size: z.int(),
})
export type UsagePoint = z.output<typeof UsagePoint>

export const UsageHistory = z.object({
  from: z.string(),
  to: z.string(),
  /** The minutes that each point covers. */
  minutes: z.int(),
  points: z.array(UsagePoint),
})
export type UsageHistory = z.output<typeof UsageHistory>

export const getUsageHistory = endpoint({
  method: 'GET',
  path: '/api/wp/:id/usage/history',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary:
    'Visits, answer times, processor, memory and disks of a server over a day (by 5 minutes), a ' +
    'week (by hours) or 90 days (by days). Spans of which nothing is known are left out',
  params: idParam,
  query: z.object({ range: z.optional(z.enum(['day', 'week', 'quarter'])) }),
  result: UsageHistory,
})
