/**
 * One page on its way into the cache: the first visitor's request makes it, and others who want the
 * same page wait for it. If the response turns out not to be cacheable, the first visitor gets it
 * as it comes, and the others send their own requests.
 */
import { createHash } from 'node:crypto'
import { isCompressible } from '../compression.ts'
import { headerOf, withoutHeaders } from '../raw-headers.ts'
import type { Marks, Sink } from '../sink.ts'
import { fileMs, keptMs } from './rules.ts'
import type { Entry, Making, PageStore, Tags } from './store.ts'

/** Trailers of the runtime (runtimes/wordpress-wasm/src/page-tags.js). */
const tagsTrailer = 'x-portal-tags'
const optionsTrailer = 'x-portal-options'
const secondsTrailer = 'x-portal-seconds'

/** A page that takes longer is passed on to its visitor and not cached, ms. */
const holdMs = 1_000
const unkept = new Set(['content-length', 'age', 'x-cache'])

/** The result of a page for the requests that wait for it; null: send an own request. */
export type Waiter = (entry: Entry | null) => void

export interface FillParts {
  readonly store: PageStore
  readonly making: Making
  readonly key: string
  /** The first visitor's address: a page that contains it is not cached. */
  readonly client: string
  /** The cached file that is being revalidated, or undefined. */
  readonly old: Entry | undefined
  /** The entry to show if no good response comes. */
  readonly standIn: Entry | undefined
  /** The sink for a response that is not cached. */
  readonly visitor: () => Sink
  /** Sends the result to the first visitor, whether or not others may get it too. */
  readonly show: (entry: Entry) => void
  /** Called at the end. `isNever`: the next requests need not wait for each other either. */
  readonly onOver: (isNever: boolean) => void
}

interface Answer {
  readonly status: number
  readonly raw: string[]
  readonly marks: Marks
  readonly lifeMs: number
}

export class Fill implements Sink {
  onLeave: () => void = () => {}
  onDrain: () => void = () => {}
  readonly #parts: FillParts
  readonly #waiters = new Set<Waiter>()
  #answer: Answer | null = null
  #chunks: Buffer[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  /** The visitor's sink, once the response is not cached. */
  #visitor: Sink | null = null
  #isOver = false
  /** The rest of the upstream's response is discarded. */
  #isReplaced = false
  #hasLeft = false

  constructor(parts: FillParts) {
    this.#parts = parts
  }

  get begun(): boolean {
    return this.#visitor?.begun ?? this.#isOver
  }

  /** Calls `waiter` once, when the page is there or is not kept. Answers what takes it back. */
  wait(waiter: Waiter): () => void {
    this.#waiters.add(waiter)
    return () => {
      this.#waiters.delete(waiter)
      this.#leaveIfAlone()
    }
  }

  /** The first visitor has left; others may still wait for the page. */
  left(): void {
    this.#hasLeft = true
    this.#leaveIfAlone()
  }

  #leaveIfAlone(): void {
    if (this.#hasLeft && this.#waiters.size === 0) this.onLeave()
  }

  begin(status: number, statusText: string | undefined, raw: string[], marks: Marks): void {
    clearTimeout(this.#timer)
    this.#chunks = []
    this.#bytes = 0
    if (status >= 500 && this.instead()) {
      this.#isReplaced = true
      return
    }
    const { old, store, making } = this.#parts
    // A file comes without PHP.
    if (status < 500 && marks.isTagged && !marks.isFile) store.dropDoubted(making.site)
    if (old && status === 304) {
      this.#answer = { status, raw, marks, lifeMs: fileMs }
      return
    }
    const lifeMs = keptMs(status, raw)
    const length = Number(headerOf(raw, 'content-length') ?? 0)
    if ((!marks.isFile && !marks.isTagged) || lifeMs <= 0 || length > this.#largest) {
      this.#passOn(status, statusText, raw, marks, true)
      return
    }
    this.#answer = { status, raw, marks, lifeMs: marks.isFile ? fileMs : lifeMs }
    this.#timer = setTimeout(() => this.#giveUp(), holdMs)
  }

  get #largest(): number {
    return this.#parts.store.largestBody
  }

  #passOn(
    status: number,
    statusText: string | undefined,
    raw: string[],
    marks: Marks,
    isNever: boolean,
  ): void {
    this.#answer = null
    const visitor = this.#parts.visitor()
    this.#visitor = visitor
    visitor.onDrain = () => this.onDrain()
    visitor.onLeave = () => this.onLeave()
    this.#over(null, isNever)
    visitor.begin(status, statusText, raw, marks)
    if (this.#hasLeft) this.onLeave()
  }

  /** Too large or too slow: passes the received part and the rest on to the first visitor. */
  #giveUp(): void {
    const answer = this.#answer
    if (!answer) return
    clearTimeout(this.#timer)
    this.#passOn(answer.status, undefined, answer.raw, answer.marks, true)
    for (const chunk of this.#chunks) this.#visitor!.write(chunk)
    this.#chunks = []
  }

  /** Shows the stand-in instead of the response. False: there is none, or a response has begun. */
  instead(): boolean {
    const { standIn, store, key } = this.#parts
    // A write of the site meanwhile has dropped the stand-in.
    if (!standIn || this.begun || store.get(key) !== standIn) return false
    clearTimeout(this.#timer)
    this.#answer = null
    this.#over(standIn, false)
    if (!this.#hasLeft) this.#parts.show(standIn)
    return true
  }

  write(chunk: Buffer): boolean {
    if (this.#isReplaced) return true
    if (this.#visitor) return this.#visitor.write(chunk)
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > this.#largest) this.#giveUp()
    return true
  }

  end(trailers: Readonly<Record<string, string>>): void {
    clearTimeout(this.#timer)
    if (this.#visitor) {
      this.#visitor.end(trailers)
      return
    }
    const answer = this.#answer
    if (!answer) return
    const { store, making, old } = this.#parts
    if (old && answer.status === 304) {
      // If the site has dropped it meanwhile, it is not cached again.
      const isKept = store.isFresh(making, [])
      if (isKept) {
        old.storedAt = performance.now()
        old.isDoubted = false
        store.put(old)
      }
      this.#over(isKept ? old : null, false)
      if (!this.#hasLeft) this.#parts.show(old)
      return
    }
    const entry = this.#entryOf(answer, trailers)
    const isNever = entry.lifeMs === 0
    const isKept = !isNever && store.isFresh(making, entry.tags)
    if (isKept) store.put(entry)
    else store.release(making.site, entry.tags)
    this.#over(isKept ? entry : null, isNever)
    if (!this.#hasLeft) this.#parts.show(entry)
  }

  /** Its life is 0 where it may not be kept. */
  #entryOf(
    { status, raw, marks, lifeMs }: Answer,
    trailers: Readonly<Record<string, string>>,
  ): Entry {
    const { store, making, key, client } = this.#parts
    const body = Buffer.concat(this.#chunks)
    const own = trailers[tagsTrailer]
    const options = trailers[optionsTrailer]
    const seconds = Number(trailers[secondsTrailer])
    const isTold = marks.isFile || (own !== undefined && options !== undefined && seconds >= 0)
    const namesVisitor =
      !marks.isFile && (body.includes(client) || raw.some((text) => text.includes(client)))
    const isKept = isTold && !namesVisitor
    const tags: Tags[] =
      isKept && !marks.isFile
        ? [store.share(making.site, own!), store.share(making.site, options!)]
        : []
    const etag = headerOf(raw, 'etag')
    const ownLifeMs = seconds > 0 ? Math.min(lifeMs, seconds * 1000) : lifeMs
    return {
      site: making.site,
      key,
      status,
      raw: [
        ...withoutHeaders(raw, unkept),
        ...(etag === undefined && status === 200
          ? ['ETag', `W/"${createHash('sha1').update(body).digest('base64url').slice(0, 16)}"`]
          : []),
      ],
      etag: etag ?? `W/"${createHash('sha1').update(body).digest('base64url').slice(0, 16)}"`,
      lastModified: headerOf(raw, 'last-modified'),
      isFile: marks.isFile,
      isCompressible: isCompressible(status, [
        ...withoutHeaders(raw, unkept),
        'content-length',
        String(body.length),
      ]),
      tags,
      storedAt: performance.now(),
      lifeMs: isKept ? ownLifeMs : 0,
      plain: body,
      plainBytes: body.length,
      made: new Map(),
      bytes: 0,
      isDoubted: false,
    }
  }

  breakOff(): void {
    clearTimeout(this.#timer)
    if (this.#isReplaced) return
    this.#visitor?.breakOff()
    this.fail()
  }

  /** No response came: the others send their own requests. */
  fail(): void {
    clearTimeout(this.#timer)
    this.#over(null, false)
  }

  #over(entry: Entry | null, isNever: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#parts.store.end(this.#parts.making)
    this.#parts.onOver(isNever)
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    for (const waiter of waiters) waiter(entry)
  }
}
