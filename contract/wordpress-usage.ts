/** What a server was visited and took over time. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

/** Hours that are shown, and the minutes that each point of them stands for. */
export const usageRanges = {
  day: { hours: 24, minutes: 5 },
  week: { hours: 7 * 24, minutes: 60 },
  quarter: { hours: 90 * 24, minutes: 1_440 },
} as const
export type UsageRange = keyof typeof usageRanges

export const UsagePoint = z.object({
  /** When its span began. */
  at: z.string(),
  requests: z.int(),
  /** Answered 4xx, and 5xx. */
  clientErrors: z.int(),
  serverErrors: z.int(),
  /** Answered with a page or file that was kept. */
  cached: z.int(),
  /** How long an answer took, ms: half of them at most so long, and 95 of 100. Null without any. */
  medianMs: z.nullable(z.int()),
  p95Ms: z.nullable(z.int()),
  /** The most that its containers took together, MB. */
  memory: z.int(),
  /** Processors used on average, in per cent of one. */
  cpu: z.number(),
  /** MB. */
  disk: z.int(),
  mariadb_disk_size: z.int(),
})
export type UsagePoint = z.output<typeof UsagePoint>

export const UsageHistory = z.object({
  from: z.string(),
  to: z.string(),
  /** That each point stands for. */
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
