/** When the owner of a name is told that its certificate is not renewed. */

/** 1: the renewal fails, 2: the end is near, 3: it has expired. 0: there is time for more tries. */
export type WarningLevel = 0 | 1 | 2 | 3

/** Shares of the life that are left: 20 and 5 days of 90. Renewal begins at a third. */
const [failing, endsSoon] = [2 / 9, 1 / 18]

/** The level at `now` of a certificate that could not be renewed. */
export function warningLevel(
  { notBefore, notAfter }: { readonly notBefore: Date; readonly notAfter: Date },
  now: Date,
): WarningLevel {
  const leftMs = notAfter.getTime() - now.getTime()
  if (leftMs <= 0) return 3
  const share = leftMs / (notAfter.getTime() - notBefore.getTime())
  if (share <= endsSoon) return 2
  return share <= failing ? 1 : 0
}
