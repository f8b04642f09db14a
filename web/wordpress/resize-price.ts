/**
 * The price of a change of size, as the screen shows it before it is confirmed; the server's result
 * is binding. Pure. Amounts are minor units.
 */
import type { Subscription } from '../../contract/billing.ts'
import { diskPrice, effectivePlanPrice, shareOf, type PlanPrice } from '../../contract/pricing.ts'
import type { Server } from '../../contract/wordpress.ts'

/** The monthly price with another disk; the other parts keep their price. */
export const priceWithDisk = (
  server: Server,
  fromMb: number,
  toMb: number,
  perGb: number,
): number => server.price - diskPrice(fromMb, { perGb }) + diskPrice(toMb, { perGb })

/**
 * The monthly price with another plan or number of containers. The plan is paid once, and once more
 * for each container.
 */
export const priceWithPlan = (
  server: Server,
  from: PlanPrice,
  to: PlanPrice,
  containers: number,
): number =>
  server.price -
  effectivePlanPrice(from) * (1 + server.replicate) +
  effectivePlanPrice(to) * (1 + containers)

/**
 * The difference of two monthly prices for the rest of the running period; 0 where nothing is
 * charged now.
 */
export function chargedNow(
  { periodStart, periodEnd }: Subscription,
  from: number,
  to: number,
  nowMs: number,
): number {
  const whole = Math.floor((Date.parse(periodEnd) - Date.parse(periodStart)) / 1000)
  const left = Math.min(whole, Math.floor((Date.parse(periodEnd) - nowMs) / 1000))
  if (to <= from || left <= 0) return 0
  return Number(shareOf(BigInt(to), left, whole) - shareOf(BigInt(from), left, whole))
}
