/**
 * The holder of a PostgreSQL data folder: a live server of ours, an orphan of a killed portal, or a
 * stale lock file.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onWindows } from './binaries.ts'

/** The name that the guard process carries in its command line. */
export const guardName = 'pg-guard'

export interface PidFile {
  readonly pid: number
  readonly port: number
  readonly socketFolder: string
  readonly status: string
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** postmaster.pid: lines 1 pid, 4 port, 5 socket folder, 8 status (PostgreSQL's miscadmin.h). */
export function readPidFile(dataFolder: string): PidFile | undefined {
  try {
    const lines = fs
      .readFileSync(path.join(dataFolder, 'postmaster.pid'), 'utf8')
      .split('\n')
      .map((line) => line.trim())
    return {
      pid: Math.abs(Number(lines[0])),
      port: Number(lines[3] ?? 0),
      socketFolder: lines[4] ?? '',
      status: lines[7] ?? '',
    }
  } catch {
    return undefined
  }
}

/**
 * Whether the pid is a PostgreSQL process of this data folder. Each such process has it as its
 * working directory; a reused pid does not.
 */
export function isServerOf(pid: number, dataFolder: string): boolean {
  if (!isAlive(pid)) return false
  if (process.platform === 'linux') {
    try {
      return fs.readlinkSync(`/proc/${pid}/cwd`) === fs.realpathSync(dataFolder)
    } catch {
      // A zombie has no working directory.
      return false
    }
  }
  if (onWindows) return true
  return /postgres/.test(
    spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).stdout,
  )
}

/**
 * Does a guard of a live portal own this server? If not, portal and guard were killed and it is an
 * orphan.
 */
export function hasGuard(pid: number): boolean {
  if (onWindows) return true
  if (process.platform === 'linux') {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? ''
      return fs.readFileSync(`/proc/${parent}/cmdline`, 'utf8').includes(guardName)
    } catch {
      return false
    }
  }
  const ask = (field: string, of: string): string =>
    spawnSync('ps', ['-o', field, '-p', of], { encoding: 'utf8' }).stdout.trim()
  return ask('args=', ask('ppid=', String(pid))).includes(guardName)
}

/**
 * Waits for the backends of a dead postmaster and clears what would hinder a start. Throws when
 * they do not leave within 10 s.
 */
export async function clearStaleLock(dataFolder: string, socketFolder: string): Promise<void> {
  const lock = readPidFile(dataFolder)
  if (lock && isServerOf(lock.pid, dataFolder)) return
  if (process.platform === 'linux') {
    for (let round = 0; ; round++) {
      const left = fs
        .readdirSync('/proc')
        .filter(
          (name) =>
            /^\d+$/.test(name) &&
            Number(name) !== process.pid &&
            isServerOf(Number(name), dataFolder),
        )
      if (left.length === 0) break
      if (round > 200)
        throw new Error(`PostgreSQL processes ${left.join(', ')} still use ${dataFolder}.`)
      await pause(50)
    }
  }
  // PostgreSQL removes the lock of a dead pid by itself, but not when the pid was taken by another
  // process or is a zombie.
  if (lock && isAlive(lock.pid)) fs.rmSync(path.join(dataFolder, 'postmaster.pid'), { force: true })
  if (onWindows) return
  for (const file of fs.readdirSync(socketFolder)) {
    if (file.startsWith('.s.PGSQL.')) fs.rmSync(path.join(socketFolder, file), { force: true })
  }
}
