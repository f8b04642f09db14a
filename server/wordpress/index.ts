/** WordPress servers: ordered, brought up, found by the edge, and watched through their log. */
export { defineAligning } from './align.ts'
export { backupRoutes } from './backup-routes.ts'
export { archiveIn } from './backup-store.ts'
export { namesOfSite, namesToCertify } from './certifiable.ts'
export { createBackups } from './backups.ts'
export { countBackups, countSites } from './counts.ts'
export { createDirectory, dropOldHostChanges, type EdgeControl } from './directory.ts'
export { createDomains, type Domains } from './domains.ts'
export type { RuntimeCounts, SiteSpec, WordpressDriver } from './driver.ts'
export { defineDiskWarnings } from './disk-warnings.ts'
export { defineHealth, downSites } from './health.ts'
export { createLifecycle } from './lifecycle.ts'
export { createLogStreams } from './log-stream.ts'
export { defineProvisioning, runOutcomes, startSites, type RunObserver } from './provision.ts'
export { createReconciler } from './reconcile.ts'
export { defineResuming } from './resume.ts'
export { plans, termsOf } from './plans.ts'
export { descriptionOf, productName, subjectOf, wordpressProduct } from './product.ts'
export { routes } from './routes.ts'
export { titles } from './titles.ts'
export { addressingOf, hostOf, ownHostOf, type SiteAddressing } from './store.ts'
export {
  forgetLostArchives,
  makeMissing,
  newestArchives,
  sitesToSave,
  specsToRestore,
} from './whole-backup.ts'
