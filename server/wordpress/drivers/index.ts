// The drivers by name. Nothing else names one.
import type { SiteRuntime } from '../driver.ts'
import { createEmbedded, type EmbeddedParts } from './embedded/index.ts'
import { settings as embeddedSettings } from './embedded/settings.ts'

export { connectRuntime, serveRuntime } from './remote/index.ts'

export const wordpressDrivers = {
  embedded: {
    settings: embeddedSettings,
    create: (parts: EmbeddedParts): SiteRuntime => createEmbedded(parts),
  },
} as const
