/** Vietnam has one zone and no summer time. */
const offsetMs = 7 * 3_600_000

/** yyyy-MM-dd in Vietnam, by whose days a request about data is due, wherever the reader is. */
export const vietnamDay = (when: string): string =>
  new Date(Date.parse(when) + offsetMs).toISOString().slice(0, 10)
