/**
 * The price of a WordPress server, computed by the same lines on the screen and on the server (whose word counts).
 * Amounts are minor units of one currency per month; disks are MB, 1 GB = 1024 MB.
 */
export interface PlanPrice {
  readonly price: number
  /** 0 means no sale. */
  readonly sale_price: number
}
export interface DiskRate {
  /** Minor units for each started 10 GB step's tenth: the price of 1 GB a month. */
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
export const effectivePlanPrice = (plan: PlanPrice): number => (plan.sale_price !== 0 ? plan.sale_price : plan.price)

/** GB x rate; part of a GB is charged to the next minor unit. */
export const diskPrice = (diskMb: number, rate: DiskRate): number => Math.ceil((diskMb * rate.perGb) / 1024)

/** Monthly total = effective plan price + disk price + effective plan price x container count (portal.md section 9). */
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
