/**
 * What a request to PHP has read and written, as tags (sql-tags.js), for the page cache of the edge
 * (README.md). Writes are reported between the frames of the answer, and acknowledged before the
 * answer continues (php-process.js): by then the edge has dropped every page that showed the old
 * data. Reads are sent with the answer, if it may be kept.
 */
import { createHash } from 'node:crypto'
import { scheduleOptions, tagsOfSql } from './sql-tags.js'

/** Set by the edge on a request whose answer may be kept; visitors cannot send it. */
export const pageHeader = 'x-portal-page'
/** The visitor's own User-Agent, for the log; PHP sees the one of its class of devices. */
export const agentHeader = 'x-portal-user-agent'
/**
 * Trailers: tags of what was read besides the options that every page reads, and tags of those
 * options.
 */
export const tagsTrailer = 'x-portal-tags'
export const optionsTrailer = 'x-portal-options'
/** A trailer: the longest time that the page is valid, seconds. */
export const secondsTrailer = 'x-portal-seconds'
/** Marks an answer that is a file of the site's folder. */
export const fileHeader = 'x-portal-file'
export const trailerNames = [tagsTrailer, optionsTrailer, secondsTrailer]
export const internalHeaders = new Set([
  pageHeader,
  agentHeader,
  tagsTrailer,
  optionsTrailer,
  secondsTrailer,
  fileHeader,
])

const marker = 'portal-page-tags'
/** More tags than this are reported as "everything". */
const mostTags = 4_000
/** While a request runs, its writes are reported this often, ms. */
const earlyMs = 250
/** Log files, which no page shows. */
const isLog = /(?:^|\/)(?:error_log|[^/]*\.log)$/i
/** Files beside the database: SQLite's own, and locks. */
const isBeside = /(?:-journal|-wal|-shm)$|\/\.locks(?:\/|$)/

/** Short hashes: a collision only drops one page too many. */
const hashes = new Map()
function hashOf(tag) {
  let hash = hashes.get(tag)
  if (hash === undefined) {
    if (hashes.size > 20_000) hashes.clear()
    hash = createHash('sha1').update(tag).digest('base64url').slice(0, 7)
    hashes.set(tag, hash)
  }
  return hash
}

/** What one request did. */
class Trace {
  writes = new Set()
  /** The writes are unknown, so every page is affected. */
  everything = false
  /** How many commits are still expected from the statement that was reported last. */
  expected = 0
  untold = false
  toldAt = performance.now()
  page = null
  late = []
  prefix = ''
}

export class PageTags {
  #send
  #current = new Trace()
  /** Whether writes are reported at all. */
  #isHeard = false

  /** @param {(tags: string[] | null) => void} send what was written; null: everything */
  constructor(send) {
    this.#send = send
  }

  /** Starts to receive PHP's messages and its changes of files. */
  attach(php, budget) {
    this.#isHeard = true
    php.onMessage?.((text) => {
      if (text.startsWith(marker)) this.#hear(JSON.parse(text.slice(marker.length)))
    })
    budget.onChange = (kind, file, isCommit) => this.#onFile(kind, file, isCommit)
  }

  /** Before PHP begins with a request. */
  begin() {
    this.#current = new Trace()
    return this.#current
  }

  #hear(message) {
    const trace = this.#current
    trace.prefix = message.prefix
    if (message.page) trace.page = message.page
    if (message.late !== undefined) trace.late.push(message.late)
    if (message.write === undefined) return
    // Earlier statements are committed by now, so their writes can be reported before this one.
    if (trace.untold && performance.now() - trace.toldAt > earlyMs) this.tell(trace)
    trace.expected = 1
    this.#take(trace, message.write)
  }

  #take(trace, sql) {
    const { reads, writes } = tagsOfSql(sql, trace.prefix)
    if (writes === null) trace.everything = true
    else for (const tag of writes) trace.writes.add(tag)
    if (writes === null || writes.length > 0) trace.untold = true
    return reads
  }

  #onFile(kind, file, isCommit) {
    const trace = this.#current
    if (kind === 'database') {
      if (isCommit && !isBeside.test(file)) {
        // A commit without a reported statement: something wrote to the database without WordPress.
        if (--trace.expected < 0) trace.everything = true
        // Reported again, because this may have been written after the last report.
        trace.untold = true
      }
    } else if (kind === 'ssd' && !isLog.test(file)) {
      trace.everything = true
      trace.untold = true
    }
  }

  /** Reports what the request has written so far: before its answer begins, and before it ends. */
  tell(trace) {
    if (!trace.untold || !this.#isHeard) return
    trace.untold = false
    trace.toldAt = performance.now()
    const isAll = trace.everything || trace.writes.size > mostTags
    this.#send(isAll ? null : [...trace.writes].map(hashOf))
  }

  /** PHP ended abnormally, so what it wrote is unknown. */
  lost(trace) {
    trace.everything = true
    trace.untold = true
  }

  /**
   * The trailers of a page that may be kept; null where it may not.
   * @returns {Record<string, string> | null}
   */
  trailersOf(trace) {
    const { page } = trace
    if (page === null || page.whyNot !== '') return null
    const own = new Set(page.quiet)
    for (const sql of [...page.reads, ...trace.late]) {
      const { reads, writes } = tagsOfSql(sql, trace.prefix)
      if (reads === null || writes === null || writes.length > 0) return null
      for (const tag of reads) own.add(tag)
    }
    const table = page.table.toLowerCase()
    const options = page.options
      .map((name) => name.toLowerCase().trimEnd())
      .filter((name) => !scheduleOptions.has(name))
      // Other names have only the tag of their table (keyOf in sql-tags.js).
      .map((name) => (/^[a-z_][\w\-.:/ ]*$/.test(name) ? `${table}#${name}` : `${table}*`))
    if (options.length > 0) options.push(`${table}~`)
    if (own.size > mostTags || options.length > mostTags) return null
    const list = (tags) => [...new Set(tags)].map(hashOf).join(' ')
    return {
      [tagsTrailer]: list(own),
      [optionsTrailer]: list(options),
      [secondsTrailer]: String(page.seconds),
    }
  }
}
