/** WordPress servers: ordered, brought up, found by the edge, and watched through their log. */
export { defineAligning } from './align.ts'
export { backupRoutes } from './backup-routes.ts'
export { archivesAt, archivesIn, type Archives } from './archives.ts'
export { namesOfSite, namesToCertify } from './certifiable.ts'
export { createBackups } from './backups.ts'
export { countBackups, countSites } from './counts.ts'
export { createDirectory, dropOldHostChanges, type EdgeControl } from './directory.ts'
export { listNodes, putNode, removeNode, setNodeState, type NodeEntry } from './nodes.ts'
export { isLost, freeOn } from './placement.ts'
export { createNodes, type NodeConnection, type NodeControl } from './routed-driver.ts'
export { createDomains, type Domains } from './domains.ts'
export type { RuntimeCounts, SiteSpec, WordpressCapabilities, WordpressDriver } from './driver.ts'
export { defineDiskWarnings } from './disk-warnings.ts'
export { defineHealth, downSites } from './health.ts'
export { createLifecycle } from './lifecycle.ts'
export { createLogStreams } from './log-stream.ts'
export { defineProvisioning, runOutcomes, type RunObserver } from './provision.ts'
export { createReconciler } from './reconcile.ts'
export { defineResuming } from './resume.ts'
export { plans, termsOf } from './plans.ts'
export { descriptionOf, productName, subjectOf, wordpressProduct } from './product.ts'
export { routes } from './routes.ts'
export { titles } from './titles.ts'
export { addressingOf, hostOf, ownHostOf, type SiteAddressing } from './store.ts'
export { stuckWork, works } from './waiting-work.ts'
export {
  bringAllTo,
  forgetLostArchives,
  makeMissing,
  newestArchives,
  sitesToSave,
  specsToRestore,
} from './whole-backup.ts'
