/**
 * The price of a WordPress server. The screen and the server use the same code; the server's result
 * is binding. Amounts are minor units of one currency per month; disks are MB, 1 GB = 1024 MB.
 */
export interface PlanPrice {
  readonly price: number
  /** 0 means no sale. */
  readonly sale_price: number
}
export interface DiskRate {
  /** Minor units: the price of 1 GB a month. */
  readonly perGb: number
}
export interface MonthlyLines {
  readonly plan: number
  readonly disk: number
  readonly mariadbDisk: number
  readonly containers: number
  readonly total: number
}

/** The sale price if there is one, else the list price. */
export const effectivePlanPrice = (plan: PlanPrice): number =>
  plan.sale_price !== 0 ? plan.sale_price : plan.price

/** GB x rate; part of a GB is rounded up to the next minor unit. Neither may be below zero. */
export const diskPrice = (diskMb: number, rate: DiskRate): number =>
  Number((BigInt(diskMb) * BigInt(rate.perGb) + 1023n) / 1024n)

/**
 * Monthly total = effective plan price + disk price + effective plan price x container count
 * (portal.md section 9).
 */
export function monthlyPrice(order: {
  plan: PlanPrice
  diskMb: number
  mariadbDiskMb: number
  containers: number
  ssdRate: DiskRate
  mariadbRate: DiskRate
}): MonthlyLines {
  const plan = effectivePlanPrice(order.plan)
  const disk = diskPrice(order.diskMb, order.ssdRate)
  const mariadbDisk = diskPrice(order.mariadbDiskMb, order.mariadbRate)
  const containers = plan * order.containers
  return { plan, disk, mariadbDisk, containers, total: plan + disk + mariadbDisk + containers }
}

/** Everything that a monthly price is computed from. Amounts are minor units. */
export interface Terms extends PlanPrice {
  readonly plan: string
  /** MB; 1 GB = 1024 MB. */
  readonly disk: number
  readonly disk_per_gb: number
  readonly mariadb_disk_size: number
  readonly mariadb_per_gb: number
  /** Containers. */
  readonly replicate: number
}

/** Everything that one line's amount was computed from, stored with the line when it was issued. */
export interface Basis extends Terms {
  /** Seconds that are charged, and the seconds of the month that they belong to. */
  readonly seconds: number
  readonly of_seconds: number
}

/**
 * One step of the sum: quantity x unit_price / per. For a disk, part of a minor unit is rounded up;
 * a share of a month is rounded half to even.
 */
export interface Step {
  readonly part: 'plan' | 'disk' | 'mariadb_disk' | 'containers' | 'share'
  readonly quantity: number
  readonly unit_price: number
  readonly per: number
  readonly amount: number
  readonly rounded_up: boolean
  readonly rounded_down: boolean
}

/**
 * numerator / denominator, rounded half to even, so that over many lines neither side gains.
 * Neither may be below zero.
 */
export function halfEven(numerator: bigint, denominator: bigint): bigint {
  const whole = numerator / denominator
  const twice = (numerator % denominator) * 2n
  return twice > denominator || (twice === denominator && whole % 2n === 1n) ? whole + 1n : whole
}

/** The part of a monthly price for some seconds of a month, rounded once. */
export const shareOf = (monthly: bigint, seconds: number, ofSeconds: number): bigint =>
  halfEven(monthly * BigInt(seconds), BigInt(ofSeconds))

/** The monthly price of these terms. */
export const monthlyOf = (terms: Terms): MonthlyLines =>
  monthlyPrice({
    plan: terms,
    diskMb: terms.disk,
    mariadbDiskMb: terms.mariadb_disk_size,
    containers: terms.replicate,
    ssdRate: { perGb: terms.disk_per_gb },
    mariadbRate: { perGb: terms.mariadb_per_gb },
  })

/**
 * The amount recomputed from its basis, step by step. The last step, the share of the month, is
 * omitted where the whole month is charged.
 */
export function explainPrice(basis: Basis): { steps: Step[]; amount: number } {
  const lines = monthlyOf(basis)
  const step = (
    part: Step['part'],
    quantity: number,
    unitPrice: number,
    per: number,
    amount: number,
  ): Step => ({
    part,
    quantity,
    unit_price: unitPrice,
    per,
    amount,
    rounded_up: BigInt(amount) * BigInt(per) > BigInt(quantity) * BigInt(unitPrice),
    rounded_down: BigInt(amount) * BigInt(per) < BigInt(quantity) * BigInt(unitPrice),
  })
  const steps = [
    step('plan', 1, lines.plan, 1, lines.plan),
    step('disk', basis.disk, basis.disk_per_gb, 1024, lines.disk),
    step('mariadb_disk', basis.mariadb_disk_size, basis.mariadb_per_gb, 1024, lines.mariadbDisk),
    step('containers', basis.replicate, lines.plan, 1, lines.containers),
  ]
  const amount = Number(shareOf(BigInt(lines.total), basis.seconds, basis.of_seconds))
  if (basis.seconds !== basis.of_seconds)
    steps.push(step('share', basis.seconds, lines.total, basis.of_seconds, amount))
  return { steps, amount }
}
