// The drivers by name. No other module names a driver.
import type { SiteRuntime } from '../driver.ts'
import { createDocker, type DockerParts } from './docker/index.ts'
import { createEmbedded, type EmbeddedParts } from './embedded/index.ts'

export { connectRuntime, serveFiles, serveRuntime, serveStream } from './remote/index.ts'

/** Folders of the embedded runtime and of WordPress's files, and the program of a container. */
export type WordpressFiles = Pick<
  EmbeddedParts,
  'program' | 'runtimeDir' | 'filesDir' | 'toolTimes'
>

export const wordpressDrivers = {
  embedded: {
    create: (parts: EmbeddedParts): SiteRuntime => createEmbedded(parts),
  },
  docker: {
    create: (parts: DockerParts): SiteRuntime => createDocker(parts),
  },
} as const
