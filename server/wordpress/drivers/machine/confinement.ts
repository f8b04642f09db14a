/**
 * A second barrier around a site's process, in case a fault in php-wasm lets PHP out of
 * WebAssembly: Node's permission model (only its own folders, no other program), no privileges
 * (setpriv(1) of util-linux), a user of its own where root starts the portal, and its end with its
 * parent. What the machine does not offer is left out and logged.
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** PATH of containers and copies; nothing of the starter's PATH is used. */
export const childPath = '/usr/bin:/bin'
/**
 * When memory runs out the kernel ends sites first; the database and the portal, at 0, come last.
 * proc(5), oom_score_adj.
 */
const siteOomScore = 500
/**
 * Long, because a machine that has just started is busy, and a confinement that failed its probe is
 * not tried again.
 */
const probeMs = 120_000

/**
 * V8's flags for WebAssembly that this process was started with are for the containers, which run
 * it. Tests use --liftoff-only, which compiles once and quickly, because their sites do not live
 * long.
 */
export const wasmFlags = process.execArgv.filter((flag) => /^--(?:liftoff-only|wasm-)/.test(flag))

export interface Command {
  readonly file: string
  readonly args: readonly string[]
}

/** The folders that one process may use. */
export interface AllowedPaths {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

export interface Needs {
  readonly addons: boolean
  readonly programs?: boolean
  readonly flags?: readonly string[]
}

export interface ConfinementParts {
  readonly nodePath: string
  readonly runtimeDir: string
  readonly filesDir: string
  readonly sitesDir: string
  /** A user that a site may run as; null where sites run as the portal's own. */
  readonly exampleUser: number | null
  readonly log: { warn(detail: object, message: string): void }
}

/** How processes are started on this machine; found out once. */
interface StartMethod {
  /** Whether setpriv exists and can end processes with their parent. */
  readonly setpriv: boolean
  /** Whether sites can be given users of their own. */
  readonly users: boolean
}

const isRoot = (): boolean => process.getuid?.() === 0

function setprivArgs(user: number | null): string[] {
  return [
    '--no-new-privs',
    '--pdeathsig=KILL',
    // Capabilities that systemd gave the portal for ports below 1024 (AmbientCapabilities=) are not
    // for sites.
    '--inh-caps=-all',
    '--ambient-caps=-all',
    // Without these, root still owns its files but has no other right.
    ...(isRoot() ? ['--bounding-set=-all', '--clear-groups'] : []),
    ...(user === null ? [] : [`--reuid=${user}`, `--regid=${user}`]),
    '--',
  ]
}

export class Confinement {
  readonly #parts: ConfinementParts
  #startMethod: Promise<StartMethod> | undefined

  constructor(parts: ConfinementParts) {
    this.#parts = parts
  }

  /** Whether a process that is started in this way runs to its end, and can read what it must. */
  async #works(user: number | null): Promise<boolean> {
    const { nodePath, runtimeDir, filesDir, sitesDir } = this.#parts
    const places = [path.join(runtimeDir, 'main.js'), filesDir, sitesDir]
    const script = `for (const place of ${JSON.stringify(places.slice(0, 2))})
  fs.accessSync(place, fs.constants.R_OK)
fs.accessSync(${JSON.stringify(places[2])}, fs.constants.X_OK)`
    try {
      await run('setpriv', [...setprivArgs(user), nodePath, '-e', script], {
        env: { PATH: childPath },
        timeout: probeMs,
      })
      return true
    } catch {
      return false
    }
  }

  async #findStartMethod(): Promise<StartMethod> {
    const { exampleUser, log } = this.#parts
    if (process.platform !== 'linux') return { setpriv: false, users: false }
    if (exampleUser !== null && (await this.#works(exampleUser)))
      return { setpriv: true, users: true }
    const setpriv = await this.#works(null)
    if (!setpriv)
      log.warn({}, 'setpriv (util-linux) does not work here: sites run with all privileges')
    else if (isRoot())
      log.warn(
        {},
        'sites run as root, without its privileges: users of their own cannot enter DATA_DIR or ' +
          'the installation, or there are none. Start the portal as a user of its own',
      )
    return { setpriv, users: false }
  }

  #found(): Promise<StartMethod> {
    return (this.#startMethod ??= this.#findStartMethod())
  }

  /** Whether sites are given users of their own. */
  async hasUsers(): Promise<boolean> {
    return (await this.#found()).users
  }

  /**
   * The command that runs `script` with `args`, confined to its folders.
   * @param user the user it runs as; null: the portal's own
   * @param needs `addons`: native code, which php-wasm needs for locks between processes;
   *   `programs`: other programs, whose command `inside` makes; `flags`: more flags of Node's
   */
  command(
    script: string,
    args: readonly string[],
    reach: AllowedPaths,
    user: number | null,
    needs: Needs,
  ): Promise<Command> {
    return this.#held(setprivArgs(user), script, args, reach, needs)
  }

  /**
   * The command by which a process started by `command` starts one of its own, confined to folders
   * of its own. User and privileges are the starter's.
   */
  inside(
    script: string,
    args: readonly string[],
    reach: AllowedPaths,
    needs: Needs,
  ): Promise<Command> {
    return this.#held(['--no-new-privs', '--pdeathsig=KILL', '--'], script, args, reach, needs)
  }

  async #held(
    options: readonly string[],
    script: string,
    args: readonly string[],
    reach: AllowedPaths,
    needs: Needs,
  ): Promise<Command> {
    const { setpriv } = await this.#found()
    const { nodePath } = this.#parts
    const node = this.#nodeArgs(setpriv, script, args, reach, needs)
    return setpriv
      ? { file: 'setpriv', args: [...options, nodePath, ...node] }
      : { file: nodePath, args: node }
  }

  #nodeArgs(
    setpriv: boolean,
    script: string,
    args: readonly string[],
    reach: AllowedPaths,
    needs: Needs,
  ): string[] {
    return [
      '--permission',
      ...reach.reads.map((dir) => `--allow-fs-read=${dir}`),
      ...reach.writes.flatMap((dir) => [`--allow-fs-read=${dir}`, `--allow-fs-write=${dir}`]),
      ...(needs.flags ?? []),
      ...(needs.addons ? ['--allow-addons', '--disable-warning=PERM0001'] : []),
      ...(needs.programs ? ['--allow-child-process', '--disable-warning=PERM0002'] : []),
      // A thread that watches the parent, where the system does not end processes with it (README
      // of the runtime).
      ...(setpriv ? [] : ['--allow-worker', '--disable-warning=PERM0006']),
      script,
      ...args,
      ...(setpriv ? [] : ['--watch-parent']),
    ]
  }
}

/** Makes the kernel end this process before the portal and its database when memory runs out. */
export function offerToOomKiller(pid: number): void {
  if (process.platform !== 'linux') return
  // The process is gone already, or the system does not permit it: the default is good enough.
  writeFile(`/proc/${pid}/oom_score_adj`, String(siteOomScore)).catch(() => {})
}
