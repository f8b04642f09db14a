// Backups of one site and their way back. An exchange of its content leaves traces from which the next life of the portal finishes or undoes it.
import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { DriverFailure } from '../../../platform/errors.ts'
import type { CopyFigures, SiteCopy } from '../../driver.ts'
import type { ArchiveOrder } from './archive-process.ts'
import type { SitePlaces } from './archive.ts'
import { bytesBelow, removeTree, writeWhole } from './files.ts'
import type { Gate } from './gate.ts'

/** Scratch sites begin with it; no site's id does. */
export const scratchPrefix = '.scratch-'

const packMs = 30 * 60_000
/** What a copy must leave free for the database and everything else on the host. */
const spareBytes = 512 * 1_048_576

/** What a site was before the exchange that the name tells. */
const formerName = /^former-([0-9a-f-]{36})$/

const placesIn = (filesDir: string): SitePlaces => ({ filesDir, databaseDir: path.join(filesDir, 'wp-content', 'database') })

async function needRoom(dir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await fs.statfs(dir)
  if (bavail * bsize < bytes + spareBytes) throw new DriverFailure('unavailable', "the host's disk is too full for a copy")
}

/** Runs orders, few at a time, each in a process that can be ended. */
export class Archivist {
  readonly #gate: Gate
  readonly #nodePath: string
  #closed = false
  readonly #running = new Map<ChildProcess, { readonly owner: string; readonly ended: Promise<unknown> }>()

  constructor(nodePath: string, gate: Gate) {
    this.#nodePath = nodePath
    this.#gate = gate
  }

  /** DriverFailure unavailable when it does not come to an end. `owner`: who may cut it short. */
  run(owner: string, order: ArchiveOrder): Promise<CopyFigures> {
    return this.#gate.run(async () => {
      if (this.#closed) throw new DriverFailure('unavailable', 'the WordPress driver is closing')
      const child = fork(path.join(import.meta.dirname, 'archive-process.ts'), {
        execPath: this.#nodePath,
        execArgv: ['--disable-warning=ExperimentalWarning'],
        // Nothing of the portal's environment: it holds keys.
        env: { PATH: process.env['PATH'] ?? '' },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      const timer = setTimeout(() => child.kill('SIGKILL'), packMs)
      const { promise, resolve, reject } = Promise.withResolvers<CopyFigures>()
      const fail = (why: string): void => reject(new DriverFailure('unavailable', `the copy was not finished: ${why}`))
      const ended = new Promise((done) => child.once('close', done))
      this.#running.set(child, { owner, ended })
      child.once('message', (answer: { figures?: CopyFigures; fault?: string }) =>
        answer.figures ? resolve(answer.figures) : fail(answer.fault ?? 'no answer'),
      )
      child.once('error', (error) => fail(error.message))
      child.once('close', (code, signal) => fail(String(signal ?? code)))
      child.send(order, (error) => error && fail(error.message))
      try {
        return await promise
      } finally {
        clearTimeout(timer)
        await ended
        this.#running.delete(child)
      }
    })
  }

  /** Ends what runs, and begins nothing any more. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#end([...this.#running])
  }

  /** Ends what runs for the owner. */
  cutShort(owner: string): Promise<void> {
    return this.#end([...this.#running].filter(([, one]) => one.owner === owner))
  }

  async #end(doomed: readonly (readonly [ChildProcess, { readonly ended: Promise<unknown> }])[]): Promise<void> {
    for (const [child] of doomed) child.kill('SIGKILL')
    await Promise.all(doomed.map(([, { ended }]) => ended))
  }
}

/** Restores the archive beside the sites, counts it and removes it. */
export async function proveCopy(archivist: Archivist, sitesDir: string, file: string): Promise<CopyFigures> {
  const scratch = path.join(sitesDir, `${scratchPrefix}${randomUUID()}`)
  await fs.mkdir(scratch, { recursive: true, mode: 0o700 })
  try {
    await needRoom(scratch, (await fs.stat(file)).size * 4)
    return await archivist.run(scratchPrefix, { op: 'unpack', places: placesIn(path.join(scratch, 'wordpress')), file })
  } finally {
    await removeTree(scratch)
  }
}

/** The copies of one site. Calls come one at a time; what exchanges its content must have the site to itself. */
export class Copies {
  readonly #archivist: Archivist
  readonly #id: string
  readonly #dir: string

  /** `dir`: the site's own folder, with `wordpress` in it. */
  constructor(archivist: Archivist, id: string, dir: string) {
    this.#archivist = archivist
    this.#id = id
    this.#dir = dir
  }

  get #present(): string {
    return path.join(this.#dir, 'wordpress')
  }
  /** Unpacked, and not the site's content yet. */
  get #coming(): string {
    return path.join(this.#dir, 'restoring')
  }
  get #mark(): string {
    return path.join(this.#dir, 'restored.json')
  }
  async pack(file: string): Promise<CopyFigures> {
    const part = `${file}.part`
    const scratchFile = `${file}.sqlite`
    await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    await needRoom(path.dirname(file), await bytesBelow(this.#present))
    try {
      const figures = await this.#archivist.run(this.#id, { op: 'pack', places: placesIn(this.#present), file: part, scratchFile })
      const handle = await fs.open(part, 'r+')
      await handle.sync()
      await handle.close()
      await fs.rename(part, file)
      return figures
    } finally {
      await Promise.all([part, scratchFile, `${scratchFile}-journal`].map((one) => fs.rm(one, { force: true })))
    }
  }

  async isDone(restoreId: string): Promise<boolean> {
    await this.recover()
    const text = await fs.readFile(this.#mark, 'utf8').catch(() => null)
    return text !== null && (JSON.parse(text) as { id: string }).id === restoreId
  }

  /** Lays the archive out beside the site's content, and makes sure that it is what it should be and fits. */
  async prepare({ file, figures }: SiteCopy, budget: { readonly diskBytes: number; readonly databaseBytes: number }): Promise<void> {
    if (figures.fileBytes > budget.diskBytes || figures.databaseBytes > budget.databaseBytes)
      throw new DriverFailure('rejected', "the backup is larger than the site's disks")
    await fs.mkdir(this.#dir, { recursive: true, mode: 0o700 })
    await removeTree(this.#coming)
    if (!(await fs.stat(file).catch(() => null))) throw new DriverFailure('rejected', 'the archive is gone')
    await needRoom(this.#dir, figures.fileBytes + figures.databaseBytes)
    try {
      const found = await this.#archivist.run(this.#id, { op: 'unpack', places: placesIn(this.#coming), file })
      if (!isDeepStrictEqual(found, figures)) throw new DriverFailure('rejected', 'the archive is not what was backed up')
    } catch (error) {
      await removeTree(this.#coming)
      throw error
    }
  }

  /** What was prepared becomes the site's content. No container may run. */
  async exchange(restoreId: string): Promise<void> {
    if (await fs.stat(this.#present).catch(() => null)) await fs.rename(this.#present, path.join(this.#dir, `former-${restoreId}`))
    await fs.rename(this.#coming, this.#present)
    await this.#conclude(restoreId)
  }

  async #conclude(restoreId: string): Promise<void> {
    await writeWhole(this.#mark, JSON.stringify({ id: restoreId }))
    await removeTree(path.join(this.#dir, `former-${restoreId}`))
  }

  /** Undoes an exchange that a kill cut before its second half, finishes one that it cut after. */
  async recover(): Promise<void> {
    const names: string[] = await fs.readdir(this.#dir).catch(() => [])
    for (const name of names) {
      const restoreId = formerName.exec(name)?.[1]
      if (restoreId === undefined) continue
      if (names.includes('wordpress')) await this.#conclude(restoreId)
      else await fs.rename(path.join(this.#dir, name), this.#present)
    }
  }

  cutShort(): Promise<void> {
    return this.#archivist.cutShort(this.#id)
  }
}
