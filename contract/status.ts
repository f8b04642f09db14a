/** What the operator tells everybody: announcements, incidents and maintenance (decision 105). */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

export const noticeKinds = ['announcement', 'incident', 'maintenance'] as const
export const noticeKind = z.enum(noticeKinds)
export type NoticeKind = z.output<typeof noticeKind>
/** Days for which ended notices can be read. */
export const historyDays = 90

const Update = z.object({ at: z.string(), text: z.string() })
export const Notice = z.object({
  id: z.string(),
  kind: noticeKind,
  title: z.string(),
  text: z.string(),
  startsAt: z.string(),
  /** Null: the end is not known yet. */
  endsAt: z.nullable(z.string()),
  /** True for maintenance during which customers' calls are refused with `maintenance`. */
  closes: z.boolean(),
  /** Oldest first. */
  updates: z.array(Update),
})
export type Notice = z.output<typeof Notice>

export const status = endpoint({
  method: 'GET',
  path: '/api/status',
  access: 'public',
  whileClosed: true,
  summary: 'Announcements, incidents and maintenance: now, to come, and those of 90 days',
  result: z.object({
    /** The worst state of all current notices. */
    state: z.enum(['working', 'incident', 'maintenance']),
    now: z.array(Notice),
    /** Soonest first. */
    coming: z.array(Notice),
    /** Newest first. */
    past: z.array(Notice),
  }),
})
export type Status = z.output<typeof status.result>

const Both = z.object({ en: z.string(), vi: z.string() })
export const NoticeOfDesk = z.object({
  id: z.string(),
  kind: noticeKind,
  title: Both,
  text: Both,
  startsAt: z.string(),
  endsAt: z.nullable(z.string()),
  closes: z.boolean(),
  when: z.enum(['now', 'coming', 'past']),
  updates: z.array(z.object({ at: z.string(), text: Both })),
})
export type NoticeOfDesk = z.output<typeof NoticeOfDesk>
export const noticesOfDesk = endpoint({
  method: 'GET',
  path: '/api/operator/status',
  access: 'staff',
  may: 'look',
  summary: 'What was told to everybody, the newest first, in both languages',
  result: z.array(NoticeOfDesk),
})
