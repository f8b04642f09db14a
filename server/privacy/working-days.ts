/**
 * The working days of Vietnam: Monday to Friday except the public holidays of the Labour Code 2019
 * (art. 112), with the working day after a holiday on a weekend (art. 111.3). Where the government
 * chooses the days each year (the fifth of Tết, and the second of the National Day), only the days
 * common to every choice count as off: a deadline is then early, never late. A Saturday that is
 * declared a working day in exchange for another one is not known here.
 */
import { days } from '../platform/clock.ts'
import { fromVietnam, inVietnam } from '../platform/vietnam-time.ts'

const next = (day: string, by = 1): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days(by)).toISOString().slice(0, 10)
const isWeekend = (day: string): boolean =>
  [0, 6].includes(new Date(`${day}T00:00:00Z`).getUTCDay())

/** New Year, Reunification, Labour Day, National Day. */
const fixed = ['01-01', '04-30', '05-01', '09-02']
/**
 * Tết and the Hùng kings' day of each year, by the new moons in Vietnam's time (Intl's Chinese
 * calendar is a day off in 2027). For a missing year neither counts as off: deadlines are early.
 */
const lunar: readonly (readonly [newYear: string, hung: string])[] = [
  ['2026-02-17', '2026-04-26'],
  ['2027-02-06', '2027-04-16'],
  ['2028-01-26', '2028-04-04'],
  ['2029-02-13', '2029-04-23'],
  ['2030-02-02', '2030-04-12'],
  ['2031-01-23', '2031-04-01'],
  ['2032-02-11', '2032-04-19'],
]
/**
 * Tết has five days: one of the old year and four of the new one, or two and three. These four are
 * in both choices, and so are their substitutes for days on a weekend.
 */
const daysOfTet = [-1, 0, 1, 2]

function holidaysOf(year: number): ReadonlySet<string> {
  const holidays = [
    ...fixed.map((day) => `${year}-${day}`),
    ...lunar.flatMap(([newYear, hung]) => [...daysOfTet.map((by) => next(newYear, by)), hung]),
  ].filter((day) => day.startsWith(`${year}-`))
  const off = new Set(holidays)
  for (const holiday of holidays.toSorted()) {
    if (!isWeekend(holiday)) continue
    let instead = next(holiday)
    while (isWeekend(instead) || off.has(instead)) instead = next(instead)
    off.add(instead)
  }
  return off
}

const known = new Map<number, ReadonlySet<string>>()

/** Whether people work on this day, YYYY-MM-DD. */
export function isWorkingDay(day: string): boolean {
  const year = Number(day.slice(0, 4))
  const holidays = known.get(year) ?? holidaysOf(year)
  known.set(year, holidays)
  return !isWeekend(day) && !holidays.has(day)
}

/** The end, in Vietnam, of the `count`th working day after the day of `from`. */
export function afterWorkingDays(from: Date, count: number): Date {
  let day = inVietnam(from).slice(0, 10)
  for (let left = count; left > 0;) {
    day = next(day)
    if (isWorkingDay(day)) left -= 1
  }
  return endOf(day)
}

/** The end, in Vietnam, of the `count`th day after the day of `from`. */
export const afterDays = (from: Date, count: number): Date =>
  endOf(next(inVietnam(from).slice(0, 10), count))

function endOf(day: string): Date {
  const end = fromVietnam(`${day}T23:59:59`)
  if (!end) throw new Error(`${day} is no day`)
  return end
}
