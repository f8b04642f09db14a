/** Monthly periods, anchored to the day of the order: 31 January renews on 28 February and then on 31 March. All in UTC. */

/** The same time of day one month later, on the anchor day or the last day of a shorter month. */
export function nextRenewal(from: Date, anchorDay: number): Date {
  const year = from.getUTCFullYear()
  const month = from.getUTCMonth() + 1
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return new Date(
    Date.UTC(
      year,
      month,
      Math.min(anchorDay, lastDay),
      from.getUTCHours(),
      from.getUTCMinutes(),
      from.getUTCSeconds(),
      from.getUTCMilliseconds(),
    ),
  )
}
