/** The queries and times of the operator's status notices. */
import { queryOptions } from '@tanstack/react-query'
import { status, type Notice } from '../../contract/status.ts'
import { call } from '../api.ts'
import { formatTime } from '../format.ts'
import { enStatus } from '../i18n/en-status.ts'
import { useLanguage } from '../i18n/index.ts'
import { viStatus } from '../i18n/vi-status.ts'

const everyMs = 5 * 60_000

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }) => call(status, {}, { signal }),
  refetchInterval: everyMs,
})

export const useStatusTexts = (): typeof enStatus => (useLanguage() === 'vi' ? viStatus : enStatus)

export const tones = {
  announcement: 'info',
  incident: 'danger',
  maintenance: 'warning',
} as const

/** Start and end of a notice, in the zone in which times are shown. */
export function timesOf({ startsAt, endsAt }: Notice, t: typeof enStatus): string {
  const from = formatTime(startsAt).slice(0, 16)
  return endsAt === null ? t.since(from) : t.fromUntil(from, formatTime(endsAt).slice(0, 16))
}
