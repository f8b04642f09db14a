// The drivers by name. Nothing else names one.
import type { SiteRuntime } from '../driver.ts'
import { createDocker, type DockerParts } from './docker/index.ts'
import { createEmbedded, type EmbeddedParts } from './embedded/index.ts'

export { connectRuntime, serveFiles, serveRuntime, serveStream } from './remote/index.ts'

/** Where the embedded runtime and WordPress's files lie, and what a container runs. */
export type WordpressFiles = Pick<EmbeddedParts, 'program' | 'runtimeDir' | 'filesDir'>

export const wordpressDrivers = {
  embedded: {
    create: (parts: EmbeddedParts): SiteRuntime => createEmbedded(parts),
  },
  docker: {
    create: (parts: DockerParts): SiteRuntime => createDocker(parts),
  },
} as const
