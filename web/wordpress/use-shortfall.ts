import { useQuery } from '@tanstack/react-query'
import { openInvoicesQuery } from '../invoices/queries.ts'
import { may } from '../may.ts'
import { useMe } from '../queries.ts'
import { takenBefore } from './older-due.ts'

/**
 * What the wallet lacks for a new order of this price, and what of that pays older orders first.
 * Minor units; `short` is negative where money is left.
 */
export function useShortfall(price: number): { readonly short: number; readonly older: number } {
  const { balance } = useMe()
  const { data } = useQuery({
    ...openInvoicesQuery,
    enabled: price > balance && may('money:read'),
  })
  const older = price > balance ? takenBefore(data ?? []) : 0
  return { short: older + price - balance, older }
}
