/** The one clock that every rule reads, so that a test can live through years in seconds. */
export interface Clock {
  now(): Date
}
export const systemClock: Clock = { now: () => new Date() }

export const seconds = (n: number): number => n * 1000
export const minutes = (n: number): number => seconds(n * 60)
export const hours = (n: number): number => minutes(n * 60)
export const days = (n: number): number => hours(n * 24)

/** A moment some milliseconds away from another. */
export const later = (than: Date, byMs: number): Date => new Date(than.getTime() + byMs)
