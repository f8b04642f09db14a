/** The locations of the cluster and its socket. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { canEnter, chooseUser, onWindows, type RunAs } from './binaries.ts'

/** The file in the folder that tells where the cluster lies, where that is elsewhere. */
const placeNote = 'location'

/**
 * The longest Unix socket path is 103 to 107 bytes; PostgreSQL adds its own file name to the
 * folder.
 */
const longestSocketFolder = 80

/**
 * The location of the cluster for a folder: the folder itself, or the path in its note. That path
 * stays when the folder is removed.
 */
export function placeOf(folder: string): string {
  const note = path.join(folder, placeNote)
  return fs.existsSync(note) ? fs.readFileSync(note, 'utf8').trim() : folder
}

/**
 * Gives an existing cluster to its user, who can then enter it. systemd gives it to root if a unit
 * with StateDirectory= has begun to run as root. Throws a sentence if that is impossible.
 */
function openCluster(base: string, dataFolder: string, runAs: RunAs): void {
  if (runAs.uid === undefined) return
  // PostgreSQL never runs as root: a cluster owned by root is in use by no server.
  if (fs.statSync(dataFolder).uid === 0)
    spawnSync('chown', ['-R', '-P', '-h', `${runAs.uid}:${runAs.gid}`, '--', dataFolder])
  // DATA_DIR and its folder belong to the portal; the folders above do not.
  for (const each of [path.dirname(base), base])
    if (!canEnter(each, runAs)) fs.chmodSync(each, (fs.statSync(each).mode & 0o777) | 0o011)
  if (fs.statSync(dataFolder).uid !== runAs.uid || !canEnter(dataFolder, runAs)) {
    throw new Error(
      `The database lies in ${dataFolder}, and uid ${runAs.uid}, as whom PostgreSQL runs, cannot ` +
        'enter it or does not own it. Give it to that user, and open the folders above it (chmod ' +
        'o+x).',
    )
  }
}

/**
 * Chooses the cluster's location: its present one, or the wanted folder, or /var/lib if the
 * cluster's user cannot enter that.
 */
export function choosePlace(
  wanted: string,
  runAsUser: string | undefined,
): { base: string; runAs: RunAs } {
  const folder = path.resolve(wanted)
  const made = fs.mkdirSync(folder, { recursive: true })
  // As root, let the database's user pass through the new folders, and no more.
  if (made !== undefined && process.getuid?.() === 0)
    for (let each = folder; each.startsWith(made); each = path.dirname(each))
      fs.chmodSync(each, 0o711)
  const base = placeOf(folder)
  const dataFolder = path.join(base, 'pgdata')
  const runAs = chooseUser(dataFolder, runAsUser)
  // Elsewhere a portal would begin with an empty database beside that one.
  if (fs.existsSync(path.join(dataFolder, 'PG_VERSION'))) {
    openCluster(base, dataFolder, runAs)
    return { base, runAs }
  }
  if (base !== folder || canEnter(folder, runAs)) return { base, runAs }
  const elsewhere = path.join(
    '/var/lib',
    `cloud-portal-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`,
  )
  fs.mkdirSync(elsewhere, { recursive: true })
  fs.chmodSync(elsewhere, 0o711)
  if (!canEnter(elsewhere, runAs)) {
    throw new Error(
      `PostgreSQL runs as uid ${runAs.uid}, who can enter neither ${folder} nor ${elsewhere}. ` +
        'Set DATA_DIR to a folder open to it, or DATABASE_URL.',
    )
  }
  fs.writeFileSync(path.join(folder, placeNote), `${elsewhere}\n`)
  return { base: elsewhere, runAs }
}

/** Creates the socket folder, private to its user. Throws a sentence if another user owns it. */
export function makeSocketFolder(base: string, runAs: RunAs): string {
  let folder = path.join(base, 'run')
  if (Buffer.byteLength(folder) > longestSocketFolder) {
    folder = path.join(
      os.tmpdir(),
      `portal-pg-${createHash('sha256').update(base).digest('hex').slice(0, 16)}`,
    )
  }
  if (onWindows) return folder
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = fs.lstatSync(folder)
  if (!found.isDirectory() || (found.uid !== process.getuid?.() && found.uid !== runAs.uid))
    throw new Error(`${folder} belongs to somebody else.`)
  fs.chmodSync(folder, 0o700)
  if (runAs.uid !== undefined) fs.chownSync(folder, runAs.uid, runAs.gid ?? runAs.uid)
  return folder
}
