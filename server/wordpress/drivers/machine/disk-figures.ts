/** What a site uses of its disks, and its memory and CPU time. */
import type { SiteFigures, SiteState } from '../../driver.ts'
import type { Used } from './engine.ts'
import type { Host } from './host.ts'
import type { ImportCopy } from './import/copy.ts'
import type { SiteFolder } from './site-folder.ts'
import type { Slots } from './slots.ts'

const megabyte = 1_048_576
const usageMs = 60_000
/** Where an engine has the kernel count, asking costs little. */
const engineUsageMs = 1_000

interface Parts {
  readonly folder: SiteFolder
  readonly slots: Slots
  /** A copy that is being moved in uses the disks, too. */
  readonly importing: Pick<ImportCopy, 'takes'>
}

export class DiskFigures {
  readonly #host: Host
  readonly #parts: Parts
  #usage: { readonly at: number; readonly used: Promise<Used> } | null = null

  constructor(host: Host, parts: Parts) {
    this.#host = host
    this.#parts = parts
  }

  /** Bytes of the site itself, without those of a copy that is moved in. */
  live(): Promise<Used> {
    const counted = this.#parts.slots.used()
    return counted ? Promise.resolve(counted) : this.#measured()
  }

  /**
   * The use of the disks while no container counts it: all files are walked through, one site at a
   * time, and at most once a minute for each site, however often it is asked for.
   */
  async #measured(): Promise<Used> {
    const mayAgeMs = this.#host.engine ? engineUsageMs : usageMs
    if (!this.#usage || Date.now() - this.#usage.at > mayAgeMs) {
      const used = this.#host.measures.run(() => this.#parts.folder.used())
      this.#usage = { at: Date.now(), used }
      used.catch(() => (this.#usage = null))
    }
    return this.#usage.used
  }

  /** The use of both disks with the copy's, MB. */
  #withCopy(used: Used): { filesMb: number; databaseMb: number } {
    const { takes } = this.#parts.importing
    return {
      filesMb: Math.ceil((used.files + takes.files) / megabyte),
      databaseMb: Math.ceil((used.database + takes.database) / megabyte),
    }
  }

  /** Undefined while no container answers. */
  figures(): Omit<SiteFigures, 'site'> | undefined {
    const { slots } = this.#parts
    const used = slots.used()
    if (!used || slots.addresses().length === 0) return undefined
    const { filesMb, databaseMb } = this.#withCopy(used)
    return { ...slots.load(), filesMb, databaseMb }
  }

  async state(): Promise<SiteState> {
    const { folder, slots } = this.#parts
    const [exists, installed, used] = await Promise.all([
      folder.exists(),
      folder.installed(),
      this.live(),
    ])
    const ready = slots.addresses().length > 0
    let state: SiteState['state'] = 'stopped'
    if (!exists) state = 'absent'
    else if (ready) state = 'running'
    else if (slots.started) state = 'starting'
    const { filesMb, databaseMb } = this.#withCopy(used)
    return {
      state,
      installed,
      containers: slots.states(),
      diskUsedMb: filesMb,
      databaseUsedMb: databaseMb,
    }
  }
}
