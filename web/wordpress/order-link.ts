/**
 * Links to the order, such as those of a provider's own site: `?plan=&region=&coupon=`. Loaded only
 * where an address has one.
 */
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

/** What an address says. Longer texts name nothing that is sold. */
export function linkIn(search: string): OrderLink {
  const known = new URLSearchParams(search)
  const text = (key: string) => known.get(key)?.slice(0, 40) || undefined
  return { plan: text('plan'), region: text('region'), coupon: text('coupon') }
}
