/**
 * The second wall round a site's process, for the day on which a fault in php-wasm lets PHP out of
 * WebAssembly: Node's permission model (its own folders and nothing else, no other program), no
 * privileges (setpriv(1) of util-linux), a user of its own where root starts the portal, and the
 * end of the process with its parent. What the machine does not offer is left out and told.
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What containers and copies find programs by: nothing of the starter's. */
export const childPath = '/usr/bin:/bin'
/**
 * Sites are the first that the kernel ends when memory runs out: the database and the portal, at 0,
 * are the last. proc(5), oom_score_adj.
 */
const siteOomScore = 500
/**
 * Long, because a machine that has just started is busy, and a confinement that failed its probe is
 * not tried again.
 */
const probeMs = 120_000

/**
 * V8's flags for WebAssembly that this process was started with are meant for the containers, which
 * run it. Tests compile it once and quickly (--liftoff-only), for none of their sites lives long.
 */
export const wasmFlags = process.execArgv.filter((flag) => /^--(?:liftoff-only|wasm-)/.test(flag))

export interface Command {
  readonly file: string
  readonly args: readonly string[]
}

/** The folders of one process. */
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
  /** A user that a site may run as, null where sites run as the portal's own. */
  readonly exampleUser: number | null
  readonly log: { warn(detail: object, message: string): void }
}

/** How processes are started on this machine; found out once. */
interface StartMethod {
  /** setpriv is there and ends processes with their parent. */
  readonly setpriv: boolean
  /** Sites may be given users of their own. */
  readonly users: boolean
}

const isRoot = (): boolean => process.getuid?.() === 0

function setprivArgs(user: number | null): string[] {
  return [
    '--no-new-privs',
    '--pdeathsig=KILL',
    // What systemd gave the portal for ports below 1024 (AmbientCapabilities=) is not for sites.
    '--inh-caps=-all',
    '--ambient-caps=-all',
    // Without these root stays the owner of its files and may nothing else.
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

  /** Whether a process runs to its end when it is started in this way, and reads what it must. */
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
   * The command that runs `script` with `args`, held to its folders.
   * @param user whom it runs as; null: the portal's own user
   * @param needs `addons`: native code, which php-wasm needs once, for locks between processes;
   *   `programs`: other programs, which `inside` is the command of; `flags`: more of Node's own
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
   * The command by which a process that `command` started starts one of its own, held to folders of
   * its own. User and privileges are those of the starter.
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
      // A thread that looks after the parent, where the system does not (README of the runtime).
      ...(setpriv ? [] : ['--allow-worker', '--disable-warning=PERM0006']),
      script,
      ...args,
      ...(setpriv ? [] : ['--watch-parent']),
    ]
  }
}

/** Offers a process to the kernel before the portal and its database, when memory runs out. */
export function offerToOomKiller(pid: number): void {
  if (process.platform !== 'linux') return
  // Gone already, or a system that does not permit it: the default will do.
  writeFile(`/proc/${pid}/oom_score_adj`, String(siteOomScore)).catch(() => {})
}
