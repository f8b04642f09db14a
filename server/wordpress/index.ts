/** WordPress servers: ordered, brought up, found by the edge, and watched through their log. */
export { defineAligning } from './align.ts'
export { createDirectory } from './directory.ts'
export type { WordpressDriver } from './driver.ts'
export { createLogStreams } from './log-stream.ts'
export { defineProvisioning, startSites } from './provision.ts'
export { wordpressProduct } from './product.ts'
export { routes } from './routes.ts'
export type { SiteAddressing } from './store.ts'
