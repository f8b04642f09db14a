/** Vietnam has one zone and no daylight saving time. */
const offsetMs = 7 * 3_600_000

/** yyyy-MM-dd in Vietnam, wherever the reader is: due days of data requests are Vietnamese days. */
export const vietnamDay = (when: string): string =>
  new Date(Date.parse(when) + offsetMs).toISOString().slice(0, 10)
