/** The immediate charge of a change of size, and the wallet's shortfall. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Subscription } from '../../contract/billing.ts'
import type { Server } from '../../contract/wordpress.ts'
import { may } from '../may.ts'
import { useMe } from '../queries.ts'
import { chargedNow } from './resize-price.ts'
import { subscriptionQuery } from './site-queries.ts'

export interface Charge {
  subscription: Subscription | undefined
  /** Minor units; 0 where nothing is charged now, and until the subscription is loaded. */
  amount: number
  /** The wallet's shortfall, minor units. */
  short: number
  /** The same for a user who may top up; 0 for others. */
  topUp: number
}

/** `price`: the monthly price of the whole server after the change; undefined: no change. */
export function useCharge(server: Server, price: number | undefined): Charge {
  const { balance } = useMe()
  const [openedAt] = useState(() => Date.now())
  const { data: subscription } = useQuery({
    ...subscriptionQuery(server.subscriptionId ?? ''),
    enabled: server.subscriptionId !== null,
  })
  const amount =
    subscription && price !== undefined
      ? chargedNow(subscription, server.price, price, openedAt)
      : 0
  const short = amount > 0 ? Math.max(0, amount - balance) : 0
  return { subscription, amount, short, topUp: may('money:write') ? short : 0 }
}
