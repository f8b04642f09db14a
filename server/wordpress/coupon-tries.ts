/** Tries to guess a coupon's code, counted with those of vouchers; a good one is no guess. */
import type { Limit } from '../platform/limits.ts'
import { networkOf } from '../platform/network.ts'

export interface CouponTries {
  /** Counts a try, and takes it back where `judge` does not refuse. Refuses with rate_limited. */
  guarded<T>(
    by: { readonly customerId: string; readonly ip: string },
    judge: () => Promise<T>,
  ): Promise<T>
}

/** Of one customer, and of all customers of one network. */
export const createCouponTries = (tries: Limit, triesOfNetwork: Limit): CouponTries => ({
  async guarded({ customerId, ip }, judge) {
    await tries.take(customerId)
    const network = networkOf(ip)
    await triesOfNetwork.take(network)
    const judged = await judge()
    await tries.giveBack(customerId)
    // Of a campaign many come from one network.
    await triesOfNetwork.giveBack(network)
    return judged
  },
})
