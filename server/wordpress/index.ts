/** WordPress servers: ordered, set up, found by the edge, and watched through their log. */
export { defineAligning } from './align.ts'
export { backupRoutes } from './backup-routes.ts'
export { watchArchives } from './archive-watch.ts'
export { archivesAt, archivesIn, type Archives } from './archives.ts'
export { warnOfCertificate } from './certificate-warnings.ts'
export { namesOfSite, namesToCertify } from './certifiable.ts'
export { createBackups } from './backups.ts'
export { countBackups, countSites } from './counts.ts'
export {
  findHosts,
  holdServer,
  ownedServers,
  ownedServersOf,
  releaseServer,
  serverName,
  serversOfCustomer,
} from './desk.ts'
export { cancellable, giveUpOrder, orderOf, retryServer } from './desk-acts.ts'
export { failedBackups } from './desk-backups.ts'
export { listServers } from './desk-list.ts'
export { capacityOf, serversByPlan } from './capacity.ts'
export { createCouponTries } from './coupon-tries.ts'
export { createDirectory, dropOldHostChanges, type EdgeControl } from './directory.ts'
export { removeNode } from './node-removal.ts'
export { countSilentNodes, listNodes, nodeAsSaid, putNode, type NodeEntry } from './nodes.ts'
export { joinRequest, joinRoutes, makeJoinKey, openSettings } from './node-joins.ts'
export { isLost, freeOn } from './placement.ts'
export { createNodes, type NodeConnection, type NodeControl } from './routed-driver.ts'
export {
  defineDraining,
  emptyJob,
  isEmptied,
  keepServers,
  keptOn,
  remainingOn,
  setEmptying,
} from './drain.ts'
export { createFailover, mirroredLeaseMs } from './failover.ts'
export { hindranceOfLoss } from './lease-store.ts'
export { beginRescues, lossOf, refuseUnlessLost } from './lost-store.ts'
export { beginMove, beginUndo, undoableMove } from './move-store.ts'
export type { MirrorCounts } from './mirror-store.ts'
export { defineMirrors } from './mirrors.ts'
export { defineMoves } from './moves.ts'
export { defineRescues } from './rescue.ts'
export { createDomains, type Domains } from './domains.ts'
export type { RuntimeCounts, SiteSpec, WordpressCapabilities, WordpressDriver } from './driver.ts'
export { defineDiskWarnings } from './disk-warnings.ts'
export { defineHealth, downSites } from './health.ts'
export { createImportFiles } from './import-files.ts'
export { importRoutes } from './import-routes.ts'
export { createImports } from './imports.ts'
export { createOriginals } from './original.ts'
export { createLifecycle } from './lifecycle.ts'
export { giveServer, holdServerToGive } from './hand-over.ts'
export { createLogStreams, dropLogTickets } from './log-stream.ts'
export {
  countMail,
  createMailCollector,
  defineSending,
  dropOldMail,
  mailOfSites,
  mailRoutes,
  mechanismFor,
  ownMailKey,
  createReportListener,
  createReturnPaths,
  resumeMailOf,
  suspendMailOf,
  takeReport,
  type ReturnPaths,
} from './mail/index.ts'
export { defineProvisioning, runOutcomes, type RunObserver } from './provision.ts'
export { defineRewriting } from './primary.ts'
export { createReconciler } from './reconcile.ts'
export { defineResuming } from './resume.ts'
export { everyDataCentre, plans, termsOf } from './plans.ts'
export { descriptionOf, productName, subjectOf, wordpressProduct } from './product.ts'
export { pageCacheRoutes } from './page-cache.ts'
export { phpRoutes } from './php-settings.ts'
export { consoleRoutes, dropOldCommands } from './console.ts'
export { databaseRoutes } from './database.ts'
export { forgetServers } from './forget.ts'
export { fileRoutes } from './files.ts'
export { createSftp, endKeysSince, hostKeyOf, sftpRoutes, type SftpServer } from './sftp/index.ts'
export { visitorRoutes } from './visitors.ts'
export { routes } from './routes.ts'
export { defineUsage } from './usage-history.ts'
export { titles } from './titles.ts'
export { addressingOf, hostOf, ownHostOf, ownServers, type SiteAddressing } from './store.ts'
export { stuckWork, works } from './waiting-work.ts'
export { createDirectoryClient, type UpdateDirectory } from './update-directory.ts'
export { createMirror } from './update-mirror.ts'
export { countUpdates, updateEnds } from './update-counts.ts'
export { defineSiteUpdates } from './site-update.ts'
export { defineUpdateRounds } from './update-rounds.ts'
export { updateRoutes } from './update-routes.ts'
export {
  defineUpdateWaves,
  moveWave,
  planSites,
  planWave,
  wavesOf,
  type WaveMove,
} from './update-waves.ts'
export {
  bringAllTo,
  hideLostArchives,
  makeMissing,
  newestArchives,
  NowhereToProve,
  sitesToSave,
  specsToRestore,
} from './whole-backup.ts'
