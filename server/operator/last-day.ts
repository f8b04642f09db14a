/** The last day of a code, by Vietnam's days. */
import { days, later, type Clock } from '../platform/clock.ts'
import { Refusal } from '../platform/errors.ts'
import { dayInVietnam } from '../platform/vietnam-time.ts'

/**
 * The end of the last day; null without one. Refuses a day that is over: nobody could use the code.
 */
export function endOf(lastDay: string | undefined, clock: Clock): Date | null {
  if (lastDay === undefined) return null
  const end = later(dayInVietnam(lastDay), days(1))
  if (end <= clock.now())
    throw new Refusal('invalid_input', {
      fields: {
        expiresOn: {
          en: 'This day is over: choose a later one.',
          vi: 'Ngày này đã qua: hãy chọn ngày khác.',
        },
      },
    })
  return end
}
