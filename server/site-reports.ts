/**
 * Reports about sites' letters: where this process receives them, and the records that their domain
 * needs.
 */
import type { Config } from './config.ts'
import type { Secrets } from './platform/secrets.ts'
import {
  createReportListener,
  createReturnPaths,
  takeReport,
  type ReturnPaths,
} from './wordpress/index.ts'

/** The default if the operator sets none. */
const usualPort = 8025

/** Null where the operator has named no domain for reports. */
export const returnPathsOf = (
  config: Pick<Config, 'SITE_MAIL_REPORTS'>,
  secrets: Pick<Secrets, 'derive'>,
): ReturnPaths | null =>
  config.SITE_MAIL_REPORTS === undefined
    ? null
    : createReturnPaths(config.SITE_MAIL_REPORTS, secrets.derive('site-mail-reports'))

export const reportsListenOn = (
  config: Pick<Config, 'HOST' | 'SITE_MAIL_REPORTS_PORT'>,
): { host: string; port: number } => ({
  host: config.HOST,
  port: config.SITE_MAIL_REPORTS_PORT ?? usualPort,
})

/** The listener for reports; null: the operator has named no domain for them. */
export function siteReports(
  config: Parameters<typeof reportsListenOn>[0],
  deps: Parameters<typeof takeReport>[0],
): ReturnType<typeof createReportListener> | null {
  const { log, returnPaths } = deps
  if (returnPaths === null) return null
  return createReportListener({
    log,
    returnPaths,
    listenOn: reportsListenOn(config),
    take: (mailId, report) => takeReport(deps, mailId, report),
  })
}
