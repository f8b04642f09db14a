/** How many letters a plan lets out. */
import type { SiteRow } from '../store.ts'
import type { MailDeps } from './deps.ts'

/** Where the plan is not in the catalogue any more. */
const leastAnHour = 100

export const hourLimitOf = (
  { catalog }: Pick<MailDeps, 'catalog'>,
  site: Pick<SiteRow, 'plan_id'>,
): number => catalog.plans.find(({ id }) => id === site.plan_id)?.mailAnHour ?? leastAnHour
