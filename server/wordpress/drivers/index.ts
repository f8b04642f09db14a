// The drivers by name. Nothing else names one.
import type { WordpressDriver } from '../driver.ts'
import { createEmbedded, type EmbeddedParts } from './embedded/index.ts'
import { settings as embeddedSettings } from './embedded/settings.ts'

export const wordpressDrivers = {
  embedded: {
    settings: embeddedSettings,
    create: (parts: EmbeddedParts): WordpressDriver => createEmbedded(parts),
  },
} as const
