// One count of a site's disk use for all processes that write to it, without a lock and without a
// query for each write. Each process has a file of its own in a folder that PHP cannot see. In it
// the process publishes a range (low, high) for the bytes that it has added since it began, and may
// move within that range freely. Before leaving the range it widens it, reads the others' ranges,
// and takes the widening back if the sum would be too large. If two processes do so at the same
// moment, at least one sees the other, so together they never exceed the limit.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

export const sharedKinds = ['ssd', 'database']

/**
 * Most bytes that a process reserves beyond its need; where space is short it reserves only a
 * fraction of the rest.
 */
const largestPiece = 1_048_576
/**
 * How far a process's count may fall without publishing, bytes: a database removes its journal all
 * the time.
 */
const below = 262_144
/** A file that was not written for this long belongs to a process that has ended, ms. */
const deadMs = 600_000
/**
 * How often a refused reservation is retried while others hold reserves that they have not used.
 */
const mostTries = 5

const fields = sharedKinds.flatMap((kind) => [`${kind}.low`, `${kind}.high`])
const fileBytes = fields.length * 8

const zeros = () => Object.fromEntries(sharedKinds.map((kind) => [kind, { low: 0, high: 0 }]))
const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** A file that is missing data counts as zero. */
function read(descriptor) {
  const bytes = Buffer.alloc(fileBytes)
  const length = fs.readSync(descriptor, bytes, 0, fileBytes, 0)
  const said = zeros()
  if (length === fileBytes)
    for (const [at, field] of fields.entries()) {
      const value = bytes.readDoubleLE(at * 8)
      const [kind, end] = field.split('.')
      said[kind][end] = Number.isFinite(value) ? value : 0
    }
  return said
}

export class DiskLease {
  #dir
  #name
  #descriptor
  #own = Object.fromEntries(
    sharedKinds.map((kind) => [kind, { value: 0, low: 0, high: 0, base: 0 }]),
  )
  /** By file name: a descriptor, the range read last, and the range at the last measurement. */
  #others = new Map()

  /** `dir`: the folder of the files; null: no other process writes to these disks. */
  constructor(dir) {
    this.#dir = dir
    if (dir === null) return
    for (const name of fs.readdirSync(dir)) {
      const file = path.join(dir, name)
      const stat = fs.statSync(file, { throwIfNoEntry: false })
      if (stat && Date.now() - stat.mtimeMs > deadMs) fs.rmSync(file, { force: true })
    }
    this.#open()
  }

  #open() {
    if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor)
    this.#name = randomBytes(12).toString('hex')
    this.#descriptor = fs.openSync(path.join(this.#dir, this.#name), 'wx', 0o600)
    this.#publish()
  }

  #publish() {
    if (this.#dir === null) return
    const bytes = Buffer.alloc(fileBytes)
    for (const [at, field] of fields.entries()) {
      const [kind, end] = field.split('.')
      bytes.writeDoubleLE(this.#own[kind][end], at * 8)
    }
    fs.writeSync(this.#descriptor, bytes, 0, fileBytes, 0)
  }

  /**
   * Reads the ranges of the other processes. A range keeps counting after its file was removed,
   * until the next measurement.
   */
  listen() {
    if (this.#dir === null) return
    for (const name of fs.readdirSync(this.#dir)) {
      if (name === this.#name || this.#others.has(name)) continue
      try {
        const descriptor = fs.openSync(path.join(this.#dir, name), 'r')
        // It began after the last measurement, so all of its bytes are new.
        this.#others.set(name, { descriptor, said: zeros(), base: zeros() })
      } catch (error) {
        if (error.code !== 'ENOENT') throw error
      }
    }
    for (const other of this.#others.values()) other.said = read(other.descriptor)
  }

  /** Updates the file's time, which shows that this process still runs. */
  keepAlive() {
    if (this.#dir === null) return
    if (fs.existsSync(path.join(this.#dir, this.#name))) return this.#publish()
    // The file is gone: other processes took this one for dead while it was suspended.
    for (const own of Object.values(this.#own)) {
      own.base -= own.value
      own.high -= own.value
      own.low = own.value = 0
    }
    this.#open()
  }

  /** Called before the folders are measured; the result is passed to `measured`. */
  beginMeasuring() {
    this.listen()
    const lows = new Map([...this.#others].map(([name, { said }]) => [name, said]))
    return {
      lows,
      own: Object.fromEntries(sharedKinds.map((kind) => [kind, this.#own[kind].value])),
    }
  }

  /**
   * Called after the measurement. A change during it may or may not be included, so the bound that
   * counts more bytes is used.
   */
  measured(before) {
    this.listen()
    const present = this.#dir === null ? new Set() : new Set(fs.readdirSync(this.#dir))
    for (const [name, other] of this.#others) {
      if (!present.has(name)) {
        fs.closeSync(other.descriptor)
        this.#others.delete(name)
        continue
      }
      const was = before.lows.get(name) ?? zeros()
      for (const kind of sharedKinds)
        other.base[kind].low = Math.min(was[kind].low, other.said[kind].low)
    }
    for (const kind of sharedKinds) {
      const own = this.#own[kind]
      own.base = Math.min(before.own[kind], own.value)
    }
  }

  #ofOthers(kind) {
    let sum = 0
    for (const { said, base } of this.#others.values()) sum += said[kind].high - base[kind].low
    return sum
  }

  /** Bytes added since the last measurement, by the ranges that were read last (`listen`). */
  grown(kind) {
    const { value, base } = this.#own[kind]
    return this.#ofOthers(kind) + value - base
  }

  /**
   * Whether `bytes` more fit if the disk may grow by `most` since its measurement; if so, they are
   * counted.
   */
  take(kind, bytes, most) {
    const own = this.#own[kind]
    if (own.value + bytes <= own.high && this.grown(kind) + bytes <= most) {
      own.value += bytes
      return true
    }
    if (this.#dir === null) {
      if (own.value - own.base + bytes > most) return false
      own.value += bytes
      return true
    }
    for (let tries = 0; tries < mostTries; tries++) {
      if (tries > 0) wait(1 + Math.random() * 4)
      const room = Math.floor((most - this.grown(kind) - bytes) / (4 * (this.#others.size + 1)))
      for (const extra of new Set([Math.min(largestPiece, Math.max(0, room)), 0])) {
        own.high = own.value + bytes + extra
        own.low = Math.min(own.low, own.value - below)
        this.#publish()
        this.listen()
        if (this.#ofOthers(kind) + own.high - own.base > most) continue
        own.value += bytes
        return true
      }
      own.high = own.value
      this.#publish()
      if (!this.#isHeld(kind)) break
    }
    return false
  }

  /** Whether others have reserved bytes that they may not need. */
  #isHeld(kind) {
    return [...this.#others.values()].some(({ said }) => said[kind].high - said[kind].low > 0)
  }

  /** Called before bytes are freed, so that a concurrent measurement knows of it. */
  freeing(kind, bytes) {
    const own = this.#own[kind]
    if (own.value - bytes >= own.low) return
    own.low = own.value - bytes - below
    this.#publish()
  }

  /** Called when the bytes are free. Until `settle` this process may use them again. */
  freed(kind, bytes) {
    this.freeing(kind, bytes)
    this.#own[kind].value -= bytes
  }

  /** Releases reserved bytes that were not used to the other processes. */
  settle() {
    let isChanged = false
    for (const own of Object.values(this.#own)) {
      isChanged ||= own.low !== own.value || own.high !== own.value
      own.low = own.high = own.value
    }
    if (isChanged) this.#publish()
  }
}
