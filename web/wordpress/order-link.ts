/** Links to the order, such as those of a provider's own site: `?plan=&region=&coupon=`. */
import { useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { OrderForm } from './order-form.ts'

/** What a link to the order names: a plan and a data centre, by id or name, and a coupon. */
interface OrderLink {
  plan?: string | undefined
  region?: string | undefined
  coupon?: string | undefined
}

interface Named {
  readonly id: number
  readonly name: string
}
const idIn = (list: readonly Named[], wanted: string | undefined): number | undefined =>
  list.find(({ id, name }) =>
    [String(id), name.toLowerCase()].includes(wanted?.toLowerCase() ?? ''),
  )?.id

/** The form after a link, which chooses what it names and nothing else, and only once. */
export function withLink(
  form: OrderForm,
  { plan, region, coupon }: OrderLink,
  { plans, regions }: { plans: readonly Named[]; regions: readonly Named[] },
): OrderForm {
  const followed = [plan, region, coupon].join('\n')
  if (followed.trim() === '' || form.followed === followed) return form
  return {
    ...form,
    planId: idIn(plans, plan) ?? form.planId,
    regionId: idIn(regions, region) ?? form.regionId,
    coupon: coupon ?? form.coupon,
    followed,
  }
}

/** Has the form follow the link in the address as soon as there is something to choose from. */
export function useOrderLink(
  setForm: (change: (now: OrderForm) => OrderForm) => void,
  plans: readonly Named[] | undefined,
  regions: readonly Named[] | undefined,
): void {
  const { plan, region, coupon } = useSearch({ strict: false }) as OrderLink
  useEffect(() => {
    if (plans && regions)
      setForm((now) => withLink(now, { plan, region, coupon }, { plans, regions }))
  }, [setForm, plans, regions, plan, region, coupon])
}
