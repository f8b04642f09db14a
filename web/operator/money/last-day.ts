import { vietnamDay } from '../../vietnam-day.ts'

/** The last day in Vietnam of what ends at this moment, which is the midnight after it. */
export const lastDay = (endsAt: string): string =>
  vietnamDay(new Date(Date.parse(endsAt) - 1).toISOString())
