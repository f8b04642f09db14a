/** How many letters a plan lets out. */
import { usualMailAnHour } from '../../catalog/index.ts'
import type { SiteRow } from '../store.ts'
import type { MailDeps } from './deps.ts'

/** Recipients within an hour; the plan may be in the catalogue no more. */
export const hourLimitOf = (
  { catalog }: Pick<MailDeps, 'catalog'>,
  site: Pick<SiteRow, 'plan_id'>,
): number => catalog.plans.find(({ id }) => id === site.plan_id)?.mailAnHour ?? usualMailAnHour
