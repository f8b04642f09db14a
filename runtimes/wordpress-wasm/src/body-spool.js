// Holds bodies of requests until a PHP process is free: small ones in memory, others on disk, all
// within one budget per container. PHP is given whole bodies anyway, but one at a time.
import fs from 'node:fs'
import path from 'node:path'

/** A body of at most this many bytes stays in memory. */
const inMemoryBytes = 65_536
/** A body of unknown length reserves its budget in steps of this many bytes. */
const stepBytes = 1_048_576
/** Bytes that must stay free on the machine's disk. */
const diskReserveBytes = 512 * 1_048_576
/** A body that receives no data for this long is given up, ms. */
const idleMs = 20_000

/** A body was refused; `status` is the HTTP status for the visitor. */
export class BodyRefused extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

export class BodySpool {
  #dir
  #budget
  #most
  #used = 0
  #count = 0

  /**
   * @param {{dir: string, budgetBytes: number, mostBytes: number}} parts `dir` is emptied;
   * `mostBytes` is the largest body: PHP's post_max_size
   */
  constructor({ dir, budgetBytes, mostBytes }) {
    this.#dir = dir
    this.#budget = budgetBytes
    this.#most = mostBytes
    fs.rmSync(dir, { recursive: true, force: true })
    fs.mkdirSync(dir, { recursive: true })
  }

  /** Bytes that bodies use now. */
  get used() {
    return this.#used
  }

  #reserve(bytes) {
    if (this.#used + bytes > this.#budget)
      throw new BodyRefused(503, 'other uploads take all the room there is for them')
    this.#used += bytes
  }

  /**
   * Reads a request's body to its end.
   * @returns {Promise<{bytes?: Buffer, file?: string, drop: () => void}>} neither for an empty
   * body; `drop` gives its room back, and is to be called once
   * @throws BodyRefused 413 too large, 503 no room, 408 nothing came for too long
   */
  async take(request) {
    const told = Number(request.headers['content-length'] ?? 0)
    if (told > this.#most) throw new BodyRefused(413, 'the body is too large')
    const hasBody = told > 0 || request.headers['transfer-encoding'] !== undefined
    if (!hasBody) return { drop: () => {} }
    const timer = setTimeout(
      () => request.destroy(new BodyRefused(408, 'the body did not come')),
      idleMs,
    )
    const chunks = this.#chunksOf(request, timer)
    try {
      if (told > 0 && told <= inMemoryBytes) return await this.#inMemory(chunks)
      return await this.#onDisk(chunks, told)
    } finally {
      clearTimeout(timer)
    }
  }

  async *#chunksOf(request, timer) {
    let size = 0
    // Without `destroyOnReturn` the connection survives a refusal in the middle of a body, so that
    // the visitor gets the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      timer.refresh()
      size += chunk.length
      if (size > this.#most) throw new BodyRefused(413, 'the body is too large')
      yield chunk
    }
  }

  async #inMemory(chunks) {
    const all = []
    for await (const chunk of chunks) all.push(chunk)
    return { bytes: Buffer.concat(all), drop: () => {} }
  }

  async #onDisk(chunks, told) {
    let reserved = Math.max(told, stepBytes)
    const { bavail, bsize } = fs.statfsSync(this.#dir)
    if (bavail * bsize < reserved + diskReserveBytes)
      throw new BodyRefused(503, 'the disk of this machine is nearly full')
    this.#reserve(reserved)
    const file = path.join(this.#dir, String(++this.#count))
    const drop = () => {
      this.#used -= reserved
      reserved = 0
      fs.rm(file, { force: true }, () => {})
    }
    try {
      const handle = await fs.promises.open(file, 'wx', 0o600)
      try {
        let size = 0
        for await (const chunk of chunks) {
          size += chunk.length
          while (size > reserved) {
            this.#reserve(stepBytes)
            reserved += stepBytes
          }
          await handle.write(chunk)
        }
      } finally {
        await handle.close()
      }
      return { file, drop }
    } catch (error) {
      drop()
      throw error.code === 'ENOSPC'
        ? new BodyRefused(503, 'the disk of this machine is full')
        : error
    }
  }
}
