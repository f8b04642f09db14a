/**
 * Limits tries to guess a coupon's code, together with those of vouchers; a good code is no guess.
 */
import type { Limit } from '../platform/limits.ts'
import { networkOf } from '../platform/network.ts'

export interface CouponTries {
  /**
   * Counts a try, and takes the count back where `judge` does not refuse. Refuses with
   * rate_limited.
   */
  guarded<T>(
    by: { readonly customerId: string; readonly ip: string },
    judge: () => Promise<T>,
  ): Promise<T>
}

/** `tries` counts by customer, `triesOfNetwork` by network. */
export const createCouponTries = (tries: Limit, triesOfNetwork: Limit): CouponTries => ({
  async guarded({ customerId, ip }, judge) {
    await tries.take(customerId)
    const network = networkOf(ip)
    await triesOfNetwork.take(network)
    const judged = await judge()
    await tries.giveBack(customerId)
    // Many customers of one network may use the code of a campaign.
    await triesOfNetwork.giveBack(network)
    return judged
  },
})
