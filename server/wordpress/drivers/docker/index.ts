/**
 * Runs WordPress sites in containers of an engine on this machine (Docker, or another with its
 * API): PHP-FPM and MariaDB of each site. HTTP is served by the same process as with the embedded
 * driver (runtimes/wordpress-wasm, native.js).
 */
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { SiteRuntime } from '../../driver.ts'
import { createRuntime, type MachineParts } from '../machine/runtime.ts'
import { engineApi } from './engine-api.ts'
import { createEngine } from './engine.ts'

export interface DockerParts extends Omit<MachineParts, 'engine' | 'program'> {
  /** The engine's socket. */
  readonly socketPath: string
  /** `runtimes/docker/tools`. */
  readonly toolsDir: string
  readonly images: { readonly wordpress: string; readonly mariadb: string }
  /** Interval between two looks for a newer image of PHP, ms; 30 s when not given. */
  readonly imageLookMs?: number
}

/** The driver. Creating it asks the engine nothing and touches no site. */
export function createDocker({
  socketPath,
  toolsDir,
  images,
  imageLookMs,
  ...parts
}: DockerParts): SiteRuntime {
  const engine = createEngine({
    api: engineApi(socketPath),
    sitesDir: path.join(path.resolve(parts.dataDir), 'sites'),
    toolsDir,
    images,
    imageLookMs,
    pageMs: parts.settings.pageSeconds * 1_000,
    // The engine refuses more processors than the machine has.
    cores: Math.min(parts.settings.maxCpu ?? 1_024, availableParallelism()),
    warn: (detail, message) => parts.log.warn(detail, message),
  })
  return createRuntime({ ...parts, engine })
}
