import { vietnamDay } from '../../vietnam-day.ts'

/** The last day (in Vietnam) of something that ends at this moment, the midnight after that day. */
export const lastDay = (endsAt: string): string =>
  vietnamDay(new Date(Date.parse(endsAt) - 1).toISOString())
