// What the engine is told about a container: its files, its rights and its limits.
import path from 'node:path'
import type { EngineSite, PlanSize } from '../machine/engine.ts'

/** The body of the engine's `create`. */
export type ContainerSpec = Readonly<Record<string, unknown>>

const megabyte = 1_048_576
/** Most processes and threads of a container. */
const webPids = 256
const databasePids = 1_024

/**
 * Shares per processor of the plan, which decide when all containers want to compute. Where the
 * kernel weighs groups (cgroup v2) the engine makes a weight of 5 of it, which is what embedded
 * sites have (cgroups.ts).
 */
const sharesOfCpu = 128

/** The limits of a container. */
export interface HeldSize extends PlanSize {
  /** Processors of the plan, even where the machine has fewer. */
  readonly weight: number
}

/** The limits in the engine's format, for the start and for later changes. */
export const limitsOf = ({ memoryMb, cpu, weight }: HeldSize): ContainerSpec => ({
  Memory: memoryMb * megabyte,
  MemorySwap: memoryMb * megabyte,
  NanoCpus: Math.round(cpu * 1e9),
  CpuShares: Math.max(2, Math.round(weight * sharesOfCpu)),
})

interface Common {
  readonly owner: string
  readonly site: EngineSite
  readonly image: string
  /** Holds `database-password`. */
  readonly secrets: string
  /** Where the database's socket is. */
  readonly runDir: string
}

/**
 * Memory of a site's database, MB. It comes on top of the plan's memory, which is PHP's: half as
 * much, and at least what MariaDB needs.
 */
export const databaseMbOf = (memoryMb: number): number => Math.max(256, Math.floor(memoryMb / 2))

interface Bind {
  readonly from: string
  readonly to: string
  readonly isWritten?: boolean
}

/**
 * What all containers have in common: no network, no rights, a read-only image, the engine's
 * default filter of system calls, and a rank that makes the kernel end them before the portal when
 * memory runs out.
 */
function held(
  { owner, site, image }: Common,
  role: string,
  binds: readonly Bind[],
  size: HeldSize,
  more: { readonly pids: number; readonly tmpfs: Readonly<Record<string, string>> },
): { readonly spec: ContainerSpec; readonly host: ContainerSpec } {
  return {
    spec: {
      Image: image,
      User: `${site.user}:${site.user}`,
      Hostname: 'site',
      NetworkDisabled: true,
      Labels: { 'portal.owner': owner, 'portal.site': site.id, 'portal.role': role },
    },
    host: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ...limitsOf(size),
      PidsLimit: more.pids,
      OomScoreAdj: 500,
      Tmpfs: more.tmpfs,
      Mounts: binds.map(({ from, to, isWritten = false }) => ({
        Type: 'bind',
        Source: from,
        Target: to,
        ReadOnly: !isWritten,
      })),
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
    },
  }
}

/** MariaDB of one site. */
export function containerOf(
  of: Common & {
    readonly size: HeldSize
    /** A folder on the database's own disk. */
    readonly dataDir: string
  },
): ContainerSpec {
  const memoryMb = databaseMbOf(of.size.memoryMb)
  const { spec, host } = held(
    of,
    'database',
    [
      { from: of.dataDir, to: '/var/lib/mysql', isWritten: true },
      { from: of.runDir, to: '/run/mysqld', isWritten: true },
      { from: of.secrets, to: '/run/secrets' },
    ],
    { ...of.size, memoryMb },
    { pids: databasePids, tmpfs: { '/tmp': 'rw,noexec,nosuid,nodev,size=300m' } },
  )
  return {
    ...spec,
    Cmd: [
      'mariadbd',
      '--skip-networking',
      `--innodb-buffer-pool-size=${Math.floor(memoryMb * 0.4)}M`,
      '--max-connections=500',
      // Enough for a row of the largest size, as hex digits of a dump.
      '--max-allowed-packet=256M',
    ],
    Env: [
      'MARIADB_DATABASE=wordpress',
      'MARIADB_USER=wordpress',
      'MARIADB_PASSWORD_FILE=/run/secrets/database-password',
      'MARIADB_RANDOM_ROOT_PASSWORD=1',
    ],
    HostConfig: host,
  }
}

const databaseEnv = [
  'WORDPRESS_DB_HOST=localhost:/run/mysqld/mysqld.sock',
  'WORDPRESS_DB_NAME=wordpress',
  'WORDPRESS_DB_USER=wordpress',
  'WORDPRESS_DB_PASSWORD_FILE=/run/secrets/database-password',
]

/** PHP-FPM of one web container. */
export function webOf(
  of: Common & {
    readonly size: HeldSize
    /** `web-1` … */
    readonly name: string
    readonly internalDir: string
    /** An empty folder on the database's disk. */
    readonly windowDir: string
    /** Whether a dump waits to be loaded. */
    readonly hasStage: boolean
  },
): ContainerSpec {
  const inside = (name: string): string => path.join(of.internalDir, name)
  const { spec, host } = held(
    of,
    of.name,
    [
      { from: of.site.wordpress, to: '/wordpress', isWritten: true },
      { from: inside('talk'), to: '/run/portal', isWritten: true },
      { from: inside('tmp'), to: '/internal/tmp', isWritten: true },
      { from: inside('shared'), to: '/internal/shared' },
      { from: inside('ini'), to: '/internal/ini' },
      { from: of.runDir, to: '/run/mysqld' },
      { from: of.windowDir, to: '/internal/database-disk' },
      { from: of.secrets, to: '/run/secrets' },
      ...(of.hasStage
        ? [{ from: path.join(of.site.database, '.import.jsonl'), to: '/internal/import.jsonl' }]
        : []),
    ],
    of.size,
    {
      pids: webPids,
      tmpfs: { '/tmp': 'rw,noexec,nosuid,nodev,size=64m' },
    },
  )
  return {
    ...spec,
    Entrypoint: ['php-fpm'],
    Cmd: ['-F', '-y', '/internal/ini/fpm.conf'],
    WorkingDir: '/wordpress',
    StopSignal: 'SIGQUIT',
    // Read after the image's own settings.
    Env: ['PHP_INI_SCAN_DIR=:/internal/ini', ...databaseEnv],
    HostConfig: host,
  }
}

/** PHP's command line beside the database, which dumps or loads a copy of it. */
export function toolOf(
  of: Common & {
    readonly toolsDir: string
    readonly copyDir: string
    readonly act: 'dump' | 'load'
  },
): ContainerSpec {
  const { spec, host } = held(
    of,
    of.act,
    [
      { from: of.toolsDir, to: '/internal/tools' },
      { from: of.copyDir, to: '/copy', isWritten: true },
      { from: of.runDir, to: '/run/mysqld' },
      { from: of.secrets, to: '/run/secrets' },
    ],
    { memoryMb: 768, cpu: 1, weight: 1 },
    { pids: 32, tmpfs: { '/tmp': 'rw,noexec,nosuid,nodev,size=16m' } },
  )
  return {
    ...spec,
    Entrypoint: ['php'],
    Cmd: ['/internal/tools/database.php', of.act],
    WorkingDir: '/copy',
    HostConfig: host,
  }
}
