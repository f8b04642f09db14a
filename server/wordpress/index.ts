/** WordPress servers: ordered, brought up, found by the edge, and watched through their log. */
export { createDirectory, type Directory, type HostTarget } from './directory.ts'
export type { WordpressDriver } from './driver.ts'
export { createLogStreams, type LogStreams } from './log-stream.ts'
export { defineProvisioning, startSites } from './provision.ts'
export { routes } from './routes.ts'
export type { SiteAddressing } from './store.ts'
