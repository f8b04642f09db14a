/**
 * Cached pages and files, under a byte budget for all sites and for each, and the dependencies that
 * were recorded for them. Nothing here is asynchronous: a write has taken effect when `drop`
 * returns.
 */
import type { Encoding } from '../compression.ts'

/** The tags read for a page. Pages share equal sets. */
export interface Tags {
  has(tag: string): boolean
  readonly size: number
}

export interface Entry {
  readonly site: string
  readonly key: string
  readonly status: number
  /** Without the headers for the body's length and encoding. */
  readonly raw: readonly string[]
  readonly etag: string
  readonly lastModified: string | undefined
  readonly isFile: boolean
  readonly isCompressible: boolean
  readonly tags: readonly Tags[]
  /** By performance.now(). */
  storedAt: number
  readonly lifeMs: number
  /** The body as it came; null once it is kept compressed. */
  plain: Buffer | null
  readonly plainBytes: number
  readonly made: Map<Encoding, Buffer | Promise<Buffer>>
  /** The size counted for the limits. */
  bytes: number
  /** PHP ended unexpectedly after the page was made: its last writes are unknown. */
  isDoubted: boolean
}

/**
 * A page that is being made. It may have read data before or after a write that happens meanwhile.
 */
export interface Making {
  readonly site: string
  readonly dropped: Set<string>
  /** A write with unknown tags has happened. */
  isAllDropped: boolean
}

export interface StoreCounts {
  readonly entries: number
  readonly bytes: number
  /** Entries that writes dropped. */
  readonly dropped: number
  /** Entries that gave way to others. */
  readonly evicted: number
}

interface SiteEntries {
  readonly all: Set<Entry>
  /** Least lately used first. */
  bytes: number
  readonly making: Set<Making>
  hasDoubted: boolean
  /** Tags by the text they came as: hundreds of pages have read the same options. */
  readonly shared: Map<string, { readonly tags: ReadonlySet<string>; uses: number }>
}

/** The memory of an entry besides its body: headers, key, map entries. */
const entryBytes = 1_000
/** The memory of one tag in a set. */
const tagBytes = 60

export class PageStore {
  readonly #totalBytes: number
  readonly #siteBytes: number
  /** Least lately used first. */
  readonly #entries = new Map<string, Entry>()
  readonly #sites = new Map<string, SiteEntries>()
  #bytes = 0
  #dropped = 0
  #evicted = 0

  constructor(limits: { readonly totalBytes: number; readonly siteBytes: number }) {
    this.#totalBytes = limits.totalBytes
    this.#siteBytes = Math.min(limits.siteBytes, limits.totalBytes)
  }

  /** The largest body that is worth its place. */
  get largestBody(): number {
    return Math.floor(this.#siteBytes / 8)
  }

  #site(id: string): SiteEntries {
    let found = this.#sites.get(id)
    if (!found) {
      found = { all: new Set(), bytes: 0, making: new Set(), hasDoubted: false, shared: new Map() }
      this.#sites.set(id, found)
    }
    return found
  }

  /** Forgets a site that has no entries left. */
  #tidy(id: string, site: SiteEntries): void {
    if (site.all.size === 0 && site.making.size === 0 && site.shared.size === 0)
      this.#sites.delete(id)
  }

  get(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry
  }

  /** Must be called before anything is read for a page, and `end` after it. */
  begin(site: string): Making {
    const making: Making = { site, dropped: new Set(), isAllDropped: false }
    this.#site(site).making.add(making)
    return making
  }

  end(making: Making): void {
    const site = this.#sites.get(making.site)
    site?.making.delete(making)
    if (site) this.#tidy(making.site, site)
  }

  /** Whether nothing was written that a page with these tags may show, since it was begun. */
  isFresh(making: Making, tags: readonly Tags[]): boolean {
    if (making.isAllDropped) return false
    for (const tag of making.dropped) if (tags.some((set) => set.has(tag))) return false
    return true
  }

  /** The tags of a text, shared among the entries of a site; `put` or `release` has to follow. */
  share(siteId: string, text: string): Tags {
    const site = this.#site(siteId)
    let found = site.shared.get(text)
    if (!found) {
      found = { tags: new Set(text.split(' ').filter((tag) => tag !== '')), uses: 0 }
      site.shared.set(text, found)
      this.#count(site, found.tags.size * tagBytes)
    }
    found.uses++
    return Object.assign(found.tags, { text })
  }

  release(siteId: string, tags: readonly Tags[]): void {
    const site = this.#sites.get(siteId)
    for (const one of tags) {
      const text = (one as Tags & { text?: string }).text
      const found = text === undefined ? undefined : site?.shared.get(text)
      if (!site || text === undefined || !found || --found.uses > 0) continue
      site.shared.delete(text)
      this.#count(site, -found.tags.size * tagBytes)
    }
    if (site) this.#tidy(siteId, site)
  }

  #count(site: SiteEntries, bytes: number): void {
    site.bytes += bytes
    this.#bytes += bytes
  }

  static sizeOf(entry: Pick<Entry, 'key' | 'raw' | 'plain' | 'made'>): number {
    let bytes = entryBytes + entry.key.length + (entry.plain?.length ?? 0)
    for (const text of entry.raw) bytes += text.length
    for (const body of entry.made.values()) if (Buffer.isBuffer(body)) bytes += body.length
    return bytes
  }

  put(entry: Entry): void {
    const before = this.#entries.get(entry.key)
    if (before) this.#remove(before)
    const site = this.#site(entry.site)
    entry.bytes = PageStore.sizeOf(entry)
    this.#entries.set(entry.key, entry)
    site.all.add(entry)
    this.#count(site, entry.bytes)
    this.#makeRoom(entry.site, site)
  }

  /** Its bodies have changed: counts them again. */
  resized(entry: Entry): void {
    const site = this.#sites.get(entry.site)
    if (!site || this.#entries.get(entry.key) !== entry) return
    const bytes = PageStore.sizeOf(entry)
    this.#count(site, bytes - entry.bytes)
    entry.bytes = bytes
    this.#makeRoom(entry.site, site)
  }

  #makeRoom(id: string, site: SiteEntries): void {
    if (site.bytes > this.#siteBytes)
      for (const entry of this.#entries.values()) {
        if (site.bytes <= this.#siteBytes) break
        if (entry.site === id) this.#evict(entry)
      }
    for (const entry of this.#entries.values()) {
      if (this.#bytes <= this.#totalBytes) break
      this.#evict(entry)
    }
  }

  #evict(entry: Entry): void {
    this.#evicted++
    this.#remove(entry)
  }

  #remove(entry: Entry): void {
    const site = this.#sites.get(entry.site)
    if (this.#entries.get(entry.key) !== entry || !site) return
    this.#entries.delete(entry.key)
    site.all.delete(entry)
    this.#count(site, -entry.bytes)
    this.release(entry.site, entry.tags)
  }

  remove(entry: Entry): void {
    this.#remove(entry)
  }

  /**
   * Drops what shows one of the tags; null: everything of the site. Pages that are being made are
   * not kept when they have read it. Answers how many were dropped.
   */
  drop(id: string, tags: readonly string[] | null): number {
    const site = this.#sites.get(id)
    if (!site) return 0
    for (const making of site.making)
      if (tags === null) making.isAllDropped = true
      else for (const tag of tags) making.dropped.add(tag)
    let dropped = 0
    // Check each set of tags once, because pages share them.
    const touched = new Map<Tags, boolean>()
    const shows = (set: Tags): boolean => {
      let found = touched.get(set)
      if (found === undefined) {
        found = tags!.some((tag) => set.has(tag))
        touched.set(set, found)
      }
      return found
    }
    for (const entry of site.all)
      if (tags === null || entry.tags.some(shows)) {
        this.#remove(entry)
        dropped++
      }
    this.#dropped += dropped
    return dropped
  }

  /**
   * The cached pages of a site may be outdated: marks them. Pages that are being made are not
   * cached.
   */
  doubt(id: string): void {
    const site = this.#sites.get(id)
    if (!site) return
    for (const making of site.making) making.isAllDropped = true
    for (const entry of site.all) entry.isDoubted = true
    site.hasDoubted = site.all.size > 0
  }

  /** The site answers again. */
  dropDoubted(id: string): void {
    const site = this.#sites.get(id)
    if (!site?.hasDoubted) return
    site.hasDoubted = false
    for (const entry of site.all)
      if (entry.isDoubted) {
        this.#remove(entry)
        this.#dropped++
      }
  }

  /** Entries of a site, and the bytes they take. */
  of(id: string): { readonly entries: number; readonly bytes: number } {
    const site = this.#sites.get(id)
    return { entries: site?.all.size ?? 0, bytes: site?.bytes ?? 0 }
  }

  counts(): StoreCounts {
    return {
      entries: this.#entries.size,
      bytes: this.#bytes,
      dropped: this.#dropped,
      evicted: this.#evicted,
    }
  }
}
