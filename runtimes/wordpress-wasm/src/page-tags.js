/**
 * What a request to PHP has read and written, as tags (sql-tags.js), for the page cache of the edge
 * (README.md). What was written is told between the frames of the answer, and acknowledged before
 * the answer goes on (php-process.js): the edge has then dropped every page that showed it. What
 * was read goes with the answer, for an answer that may be kept.
 */
import { createHash } from 'node:crypto'
import { scheduleOptions, tagsOfSql } from './sql-tags.js'

/** A request of the edge has it when its answer may be kept; no visitor can send it. */
export const pageHeader = 'x-portal-page'
/** The visitor's own User-Agent, where PHP is shown that of its class of devices. For the log. */
export const agentHeader = 'x-portal-user-agent'
/** Trailers: what was read besides the options that every page reads, and those. */
export const tagsTrailer = 'x-portal-tags'
export const optionsTrailer = 'x-portal-options'
/** A trailer: for how many seconds the page is good at most. */
export const secondsTrailer = 'x-portal-seconds'
/** Says of an answer that it is a file of the site's folder. */
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
/** More than these are told as everything. */
const mostTags = 4_000
/** While a request goes on, what it has written so far is told so often, ms. */
const earlyMs = 250
/** Files that no page shows. */
const isLog = /(?:^|\/)(?:error_log|[^/]*\.log)$/i
/** Beside the database: SQLite's own files, and locks. */
const isBeside = /(?:-journal|-wal|-shm)$|\/\.locks(?:\/|$)/

/** Short, and alike only by chance: two that meet drop a page too many. */
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
  /** Whatever was written is not known. */
  everything = false
  /** How many transactions may still reach the disk until the next statement is told. */
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
  /** Whether anybody acknowledges. */
  #isHeard = false

  /** @param {(tags: string[] | null) => void} send what was written; null: everything */
  constructor(send) {
    this.#send = send
  }

  /** From now on hears what PHP says, and which files it changes. */
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
    // What came before this one is in the database: those who ask meanwhile need not see the old.
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
        // One that no statement was seen for: somebody wrote to the database past WordPress.
        if (--trace.expected < 0) trace.everything = true
        // Told again: this may have been written after the last word.
        trace.untold = true
      }
    } else if (kind === 'ssd' && !isLog.test(file)) {
      trace.everything = true
      trace.untold = true
    }
  }

  /** Tells what the request has written so far: before its answer begins, and before it ends. */
  tell(trace) {
    if (!trace.untold || !this.#isHeard) return
    trace.untold = false
    trace.toldAt = performance.now()
    const isAll = trace.everything || trace.writes.size > mostTags
    this.#send(isAll ? null : [...trace.writes].map(hashOf))
  }

  /** PHP ended in no good way: nobody knows what it did. */
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
      // Others are found by their table alone (keyOf in sql-tags.js).
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
