// The drivers by name. Nothing else names one.
import type { SiteRuntime } from '../driver.ts'
import { createEmbedded, type EmbeddedParts } from './embedded/index.ts'

export { connectRuntime, serveRuntime } from './remote/index.ts'

export const wordpressDrivers = {
  embedded: {
    create: (parts: EmbeddedParts): SiteRuntime => createEmbedded(parts),
  },
} as const
