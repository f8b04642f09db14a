/** WordPress servers: ordered, brought up, found by the edge, and watched through their log. */
export { createDirectory } from './directory.ts'
export { createDomains } from './domains.ts'
export type { WordpressDriver } from './driver.ts'
export { createLifecycle } from './lifecycle.ts'
export { createLogStreams } from './log-stream.ts'
export { defineProvisioning, startSites } from './provision.ts'
export { routes } from './routes.ts'
export type { SiteAddressing } from './store.ts'
