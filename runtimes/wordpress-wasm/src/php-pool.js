// The processes that run a container's PHP. One is always running. More are started when requests
// wait, as many as the plan's processors and memory allow, and end when they are not needed.
//
// The plan's processors limit how many pages may compute at the same time. A page that waits (for
// another server, a lock, a slow visitor) computes nothing, so another may begin meanwhile. A page
// that has computed for long does not count either: otherwise it would keep everybody else waiting
// until its end.

/** How often the pool checks which processes compute, while a request waits for PHP, ms. */
const lookMs = 100
/** A process that used this share of a processor counts as computing. */
const computingShare = 0.3
/**
 * A running page stops counting as computing once it has used this much CPU time, or has taken this
 * long on a busy machine, ms. WordPress's own pages use a tenth of it.
 */
const longCpuMs = 2_000
const longMs = 5_000
/** A process that was idle for this long is ended, unless it is the only one, ms. */
const unusedMs = 300_000
const memoryMs = 1_000
/** Above this share of the plan's memory idle processes are ended. */
const fullShare = 0.85
/**
 * PHP never returns memory to the system: a process that grew above this, bytes, and was idle for
 * this long, ms, is replaced. Without large requests it stays well below.
 */
const grownBytes = 480 * 1_048_576
const grownIdleMs = 30_000
/**
 * A process is replaced after this many requests, which removes what PHP and plugins leave behind
 * in it, even if it is never idle.
 */
const mostServed = 1_000
/**
 * A request that ended in a fatal error counts as this many: PHP then leaves more behind, and after
 * some hundred of them its heap was found corrupted.
 */
const fatalWear = 25
/**
 * After this many fatal errors in a row the process itself may be broken, not the site's program.
 */
const fatalInARow = 5
/** Shortest time between replacements for a site whose program always fails, ms. */
const renewedMs = 30_000
/** Memory of a process that has just started, bytes. */
const freshBytes = 260 * 1_048_576
/** Shortest time between replacements of the only process for want of memory, ms. */
const renewMs = 600_000
/** Starts in a row that fail before the container gives up. */
const maxFailures = 6
/** Memory that must be available on the machine for one more process, bytes. */
const processRoom = 900 * 1_048_576

export class PhpPool {
  #start
  #log
  #onLost
  #onWrite
  #onEnd
  #memoryBytes
  #isCheap
  /** How many pages may compute at the same time. */
  #atOnce
  #most
  #all = new Set()
  #cpuMs = 0
  /** CPU time of each process that is already added to `#cpuMs`, ms. */
  #counted = new WeakMap()
  #booting = 0
  #line = []
  #looking = null
  #failures = 0
  #closed = false
  #startedOne = false
  #renewing = false
  #renewedAt = -Infinity

  /**
   * @param {{start: (first: boolean) => object, atOnce: number, most: number, memoryBytes: number,
   * log: (line: object) => void, onLost: (why: string) => void, onWrite: (tags: string[] | null) =>
   * Promise<void>, onEnd: () => Promise<void>, isCheap?: boolean}} parts `start` starts a process
   * (php-process.js); `memoryBytes`: the plan's; `onLost`: PHP cannot be started any more;
   * `onWrite`: PHP has written, called before its answer continues; `onEnd`: PHP ended during a
   * request; `isCheap`: one more process costs nothing, so it is started at once
   */
  constructor({ start, atOnce, most, memoryBytes, log, onLost, onWrite, onEnd, isCheap = false }) {
    this.#isCheap = isCheap
    this.#start = start
    // With `isCheap` PHP runs elsewhere: whether a process computes is unknown, and the engine
    // limits its processors anyway.
    this.#atOnce = isCheap ? most : atOnce
    this.#most = most
    this.#memoryBytes = memoryBytes
    this.#log = log
    this.#onLost = onLost
    this.#onWrite = onWrite
    this.#onEnd = onEnd
    setInterval(() => this.#watchMemory(), memoryMs).unref()
  }

  /** Resolves with the first process once it accepts requests; rejects when it does not start. */
  async open() {
    return await this.#boot()
  }

  get #processes() {
    return [...this.#all]
  }

  /** Number of waiting requests. */
  get waiting() {
    return this.#line.length
  }

  /**
   * Bytes on the disks. Each process learns of its own writes first, so the largest count is the
   * most accurate.
   */
  get told() {
    const all = this.#processes.flatMap(({ told }) => told ?? [])
    return {
      ssd: Math.max(0, ...all.map(({ ssd }) => ssd)),
      database: Math.max(0, ...all.map(({ database }) => database)),
    }
  }

  rss() {
    return this.#processes.reduce((sum, one) => sum + one.rss(), 0)
  }

  /**
   * CPU time of all its processes since the start, ms. For a process that has ended, only up to its
   * last check.
   */
  cpuMs() {
    for (const one of this.#all) {
      const used = one.processor()?.usedMs ?? 0
      const before = this.#counted.get(one) ?? 0
      if (used > before) {
        this.#cpuMs += used - before
        this.#counted.set(one, used)
      }
    }
    return this.#cpuMs
  }

  /** Whether PHP waits for a page of its own site. */
  get callsItself() {
    return this.#processes.some(({ ownCalls }) => ownCalls > 0)
  }

  /**
   * Whether one more request would find a process even if the running and waiting ones do not
   * finish.
   */
  get hasSpare() {
    return this.#processes.filter(({ idle }) => !idle).length + this.#line.length < this.#most
  }

  /** @param most the new limit of processes; undefined: unchanged */
  resize(limits, most = this.#most) {
    this.#most = most
    if (this.#isCheap) this.#atOnce = most
    for (const one of this.#all) one.resize(limits)
  }

  async #boot() {
    this.#booting++
    const one = this.#start(!this.#startedOne)
    this.#startedOne = true
    one.busySince = null
    one.idleSince = performance.now()
    one.startedAt = performance.now()
    one.computes = false
    one.client = null
    one.sample = null
    one.seen = null
    one.wear = 0
    one.fatal = 0
    one.failed = false
    one.leaving = false
    try {
      await one.ready
    } finally {
      this.#booting--
    }
    this.#failures = 0
    this.#all.add(one)
    void one.ended.then((why) => {
      this.#all.delete(one)
      if (this.#closed) return
      if (!one.retired) this.#log({ s: 'php', m: `a PHP process ended: ${why.split('\n')[0]}` })
      this.#keepOne()
    })
    this.#dispatch()
    return one
  }

  #bootLater(delayMs = 0) {
    this.#booting++
    setTimeout(() => {
      this.#booting--
      if (this.#closed) return
      this.#boot().catch((error) => {
        if (this.#closed) return
        this.#failures++
        this.#log({ s: 'php', m: `PHP did not start: ${error.message.split('\n')[0]}` })
        if (this.#failures >= maxFailures && this.#all.size === 0)
          this.#onLost(`PHP does not start any more: ${error.message}`)
        else this.#keepOne()
      })
    }, delayMs)
  }

  #keepOne() {
    if (this.#all.size + this.#booting === 0)
      this.#bootLater(this.#failures === 0 ? 0 : 250 * 2 ** this.#failures)
  }

  /**
   * Waits for a process and runs a request there.
   * @param answer where the answer goes (php-process.js)
   * @param client the client of the request (client-limits.js); null: it is not limited
   * @param visitor the response whose `close` ends the wait; undefined when the request must run
   * @returns the outcome (php-process.js), null when the visitor left before the turn came
   */
  async run(request, answer, { limitMs, client = null, visitor }) {
    const one = await this.#enter(client, visitor)
    if (!one) return null
    one.computes = true
    one.sample = null
    one.seen = null
    const outcome = await one.run(request, answer, { limitMs, onWrite: this.#onWrite })
    // What the request did before PHP ended is unknown.
    if (outcome.how !== 'done') await this.#onEnd()
    one.idleSince = performance.now()
    one.computes = false
    one.client = null
    if (one.leaving === 'first' || (one.leaving && this.#all.size > 1)) this.#retire(one)
    else if (outcome.how === 'done') this.#wear(one, outcome.exitCode !== 0)
    this.#dispatch()
    return outcome
  }

  #wear(one, isFatal) {
    one.fatal = isFatal ? one.fatal + 1 : 0
    one.wear += isFatal ? fatalWear : 1
    const now = performance.now()
    const isBroken = one.fatal >= fatalInARow
    one.failed ||= isFatal
    if (this.#renewing || (one.wear < mostServed && !isBroken)) return
    if (one.failed && now - this.#renewedAt < renewedMs) return
    this.#renewedAt = now
    // Reset here, so that a process that stays (for want of memory or of a replacement) is not
    // replaced again at once.
    one.wear = 0
    if (isBroken)
      this.#log({ s: 'php', m: `a PHP process is renewed after ${one.fatal} fatal errors` })
    void this.#renew(one)
  }

  #enter(client, visitor) {
    if (visitor?.destroyed) return Promise.resolve(null)
    return new Promise((resolve) => {
      const place = { begin: resolve, client }
      this.#line.push(place)
      visitor?.once('close', () => {
        const at = this.#line.indexOf(place)
        if (at < 0) return
        this.#line.splice(at, 1)
        resolve(null)
      })
      this.#dispatch()
    })
  }

  #computing() {
    return this.#processes.filter((one) => one.reserved || (!one.idle && one.computes)).length
  }

  /**
   * The next waiting request. If there are two or more processes, one client never gets all of
   * them, however many requests it has waiting.
   */
  #nextInLine() {
    const share = Math.max(1, this.#most - 1)
    const at = this.#line.findIndex(
      ({ client }) =>
        client === null || this.#processes.filter((one) => one.client === client).length < share,
    )
    return at < 0 ? undefined : this.#line.splice(at, 1)[0]
  }

  #dispatch() {
    while (this.#line.length > 0 && this.#computing() < this.#atOnce) {
      // The process that ran last: its data is most likely still in the CPU caches, and unused ones
      // can end.
      const [next] = this.#processes
        .filter((one) => one.idle && !one.reserved && !one.retired)
        .filter((one) => !one.leaving || this.#all.size === 1)
        .toSorted((a, b) => b.idleSince - a.idleSince)
      const place = next && this.#nextInLine()
      if (!place) break
      next.reserved = true
      next.client = place.client
      place.begin(next)
      // By then `run` has continued, in this same turn of the event loop.
      queueMicrotask(() => (next.reserved = false))
    }
    if (this.#isCheap)
      for (
        let wanted = this.#line.length - this.#booting;
        wanted > 0 && this.#all.size + this.#booting < this.#most;
        wanted--
      )
        this.#boot().catch(() => {})
    if (this.#line.length > 0) this.#looking ??= setInterval(() => this.#look(), lookMs)
    else if (this.#looking) {
      clearInterval(this.#looking)
      this.#looking = null
    }
  }

  /**
   * Runs while requests wait: checks which busy processes compute, and whether one more may start.
   */
  #look() {
    const now = performance.now()
    for (const one of this.#all) {
      if (one.idle) continue
      const processor = one.processor()
      if (processor === null) continue
      const { usedMs, wants } = processor
      one.seen ??= { usedMs, at: now }
      if (usedMs - one.seen.usedMs > longCpuMs || now - one.seen.at > longMs) {
        one.computes = false
        continue
      }
      // On a busy machine a computing process may get little CPU time, so `wants` also counts.
      if (one.sample)
        one.computes =
          wants || (usedMs - one.sample.usedMs) / (now - one.sample.at) > computingShare
      one.sample = { usedMs, at: now }
    }
    this.#dispatch()
    if (this.#line.length > 0 && this.#mayGrow()) this.#bootLater()
  }

  #mayGrow() {
    return (
      this.#booting === 0 &&
      this.#all.size < this.#most &&
      this.#computing() < this.#atOnce &&
      this.#processes.every(({ idle }) => !idle) &&
      process.availableMemory() > processRoom
    )
  }

  /** Ends processes that are not needed, or that exceed the plan's memory. */
  #watchMemory() {
    const now = performance.now()
    for (const one of this.#all) {
      if (this.#all.size > 1 && one.idle && now - one.idleSince > unusedMs) this.#retire(one)
    }
    const grown = this.#processes.find(
      (one) => one.idle && now - one.idleSince > grownIdleMs && one.rss() > grownBytes,
    )
    if (grown && !this.#renewing) void this.#renew(grown)
    const rss = process.memoryUsage.rss() + this.rss()
    const bySize = this.#processes.toSorted((a, b) => b.rss() - a.rss())
    // During a replacement two processes use memory; the page that is running should not be ended
    // for that.
    const isChanging = this.#renewing || this.#processes.some(({ leaving }) => leaving)
    const resting = bySize.find((one) => one.idle && !one.reserved)
    const victim = isChanging && this.#all.size > 1 ? (resting ?? bySize[0]) : bySize[0]
    if (rss > this.#memoryBytes && victim) {
      const mb = (bytes) => Math.round(bytes / 1_048_576)
      victim.kill(`memory ${mb(rss)} MB is above the plan's ${mb(this.#memoryBytes)} MB`)
    } else if (rss > this.#memoryBytes * fullShare && resting && !isChanging) {
      if (this.#all.size > 1 || now - resting.startedAt > renewMs) this.#retire(resting)
    }
  }

  /**
   * Starts the replacement before the old process ends. If the plan has no memory for both, the old
   * one ends first, after its request.
   */
  async #renew(old) {
    if (process.memoryUsage.rss() + this.rss() + freshBytes > this.#memoryBytes) {
      if (old.idle && !old.reserved) this.#retire(old)
      else old.leaving = 'first'
      return
    }
    this.#renewing = true
    try {
      await this.#boot()
      // A busy process is ended after its request (`run`).
      old.leaving = true
      if (old.idle && !old.reserved && this.#all.size > 1) this.#retire(old)
    } catch {
      // The old process stays; the next check, or its next request, tries again.
    }
    this.#renewing = false
  }

  #retire(one) {
    one.retired = true
    this.#all.delete(one)
    one.kill('it is not needed any more')
    this.#keepOne()
  }

  /** Ends every process. */
  close() {
    this.#closed = true
    for (const one of this.#all) one.kill('the container ends')
  }
}
