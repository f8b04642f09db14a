// The order that a container of a site is started with, and which changes of it need a new
// container.
import path from 'node:path'
import type { SiteSpec } from '../../driver.ts'
import type { BootOrder, Container } from './container.ts'
import type { PlanSize, Used } from './engine.ts'
import type { Host } from './host.ts'
import type { SiteFolder } from './site-folder.ts'

const megabyte = 1_048_576
const internalMb = 512
const usualUploadMb = 64

/** The owner's PHP settings, within this machine's limits. */
const phpOf = ({ php }: SiteSpec, pageMs: number) => ({
  pageMs: php ? Math.min(pageMs, php.pageSeconds * 1_000) : pageMs,
  uploadMb: php?.uploadMb ?? usualUploadMb,
  inputVars: php?.inputVars ?? 5_000,
  debug: php?.debug ?? false,
})

/**
 * The plan's full size: an engine caps it by the machine, and weighs containers by it when all
 * compute.
 */
export const planOf = ({ ramMb, cpu }: SiteSpec): PlanSize => ({ memoryMb: ramMb, cpu })

/** The part of the size that an engine changes without a restart: memory in MB, and processors. */
export const sizeOf = ({ cores }: Pick<Host, 'cores'>, spec: SiteSpec) => ({
  memoryMb: spec.ramMb,
  phpMemoryMb: Math.min(1_024, Math.max(64, Math.floor(spec.ramMb / 4))),
  cpu: Math.min(spec.cpu, cores),
})

/** The site's disks minus what else lies on them, bytes. */
export const disksOf = (spec: SiteSpec, reserved: Used) => ({
  ssdBytes: Math.max(0, spec.diskMb * megabyte - reserved.files),
  databaseBytes: Math.max(0, spec.databaseDiskMb * megabyte - reserved.database),
})

type Plain = Omit<BootOrder, 'php'>

export const orderOf = (
  host: Host,
  spec: SiteSpec,
  of: {
    readonly folder: SiteFolder
    readonly internalDir: string
    readonly install: BootOrder['install']
    readonly reserved: Used
    /** How long writes are held from the start on, ms. */
    readonly holdMs: number
  },
): Plain => ({
  siteDir: of.folder.wordpress,
  internalDir: of.internalDir,
  sqliteDir: path.join(host.filesDir, 'sqlite-database-integration'),
  ticketsDir: of.folder.tickets,
  mailDir: of.folder.mail,
  countDir: of.folder.count,
  mail: spec.mail === true,
  url: spec.url,
  hosts: spec.hosts,
  ...sizeOf(host, spec),
  ...disksOf(spec, of.reserved),
  internalBytes: internalMb * megabyte,
  internet: host.internet,
  ...phpOf(spec, host.pageMs),
  measureMs: host.measureMs,
  pageTags: true,
  engine: host.engine !== null,
  holdMs: of.holdMs,
  install: of.install,
})

/** Why the spec needs a new process; null: it does not. */
export function stalenessOf(host: Host, container: Container, spec: SiteSpec): string | null {
  const wanted = {
    ...sizeOf(host, spec),
    ...phpOf(spec, host.pageMs),
    url: spec.url,
    internet: host.internet,
  }
  const has = (names: readonly (keyof typeof wanted)[]): boolean =>
    names.every((name) => container.order[name] === wanted[name])
  if (!has(['url', 'memoryMb', 'cpu', 'internet'])) return 'the plan or the address changed'
  if (!has(['pageMs', 'uploadMb', 'inputVars', 'debug'])) return 'the settings of PHP changed'
  return container.generation === spec.generation ? null : 'a restart was asked for'
}
