/**
 * A cache of responses over UDP. A response follows from the query, except its id and the case of
 * the letters that echo the question: resolvers choose that case at random against forgery
 * (draft-vixie-dnsext-dns0x20), so a cache that compared the case would never hit.
 *
 * The cache lies in two buffers, since each memory place that a lookup reads may miss the
 * processor's cache: objects in a Map took four such places and half of a query's time.
 */
// The global is a getter, which costs as much as the allocation.
import { Buffer } from 'node:buffer'
import { headerBytes } from './wire.ts'

/** Longest query whose response is cached: a name and a bare OPT. */
const cachedQueryBytes = 280
/** Above the longest answer over UDP with its query, many times. */
const memoryBytes = 8 * 1024 * 1024
const cachedResponses = 30_000
/** A power of two; less than half of it is ever in use. */
const slots = 65_536
/**
 * Where a hash is looked for: its own place and the next ones. Bounds the work for whoever finds
 * names with one hash.
 */
const probes = 8
/** In a slot: the hash, and where the answer lies (0: nowhere). */
const slotFields = 2
/** Before an answer: the lengths of query, question's end and answer, two bytes each. */
const lengthsBytes = 6
/** Behind a name: type and class. */
const behindNameBytes = 4
/**
 * FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv), begun at a number that nobody outside knows.
 */
const fnvPrime = 0x01000193
/** Folds the case of letters, and some bytes too many: what has the same hash is compared. */
const caseless = 0xdf

const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a

export class ResponseCache {
  private readonly table = new Int32Array(slots * slotFields)
  /** Pages of it that were never written take no memory. */
  private readonly memory = Buffer.allocUnsafeSlow(memoryBytes)
  private readonly seed = Math.floor(Math.random() * 0xffffffff)
  private count = 0
  /** The first byte stays unused: 0 says that a slot is empty. */
  private used = 1

  clear(): void {
    if (this.count === 0) return
    this.table.fill(0)
    this.count = 0
    this.used = 1
  }

  /** The cached response to this query, with its id and case; undefined: not cached. */
  find(bytes: Buffer): Buffer | undefined {
    if (bytes.length > cachedQueryBytes || bytes.length < headerBytes) return undefined
    const { table, memory } = this
    const hash = this.hash(bytes)
    for (let probe = 0; probe < probes; probe++) {
      const slot = ((hash + probe) & (slots - 1)) * slotFields
      const at = table[slot + 1] ?? 0
      if (at === 0) return undefined
      if (table[slot] === hash && isSame(memory, at, bytes)) return copyFor(memory, at, bytes)
    }
    return undefined
  }

  /** Caches the response to a query that has a question. `questionEnd` is the same in both. */
  store(bytes: Buffer, questionEnd: number, answer: Buffer): void {
    if (bytes.length > cachedQueryBytes) return
    const needed = lengthsBytes + answer.length + headerBytes + bytes.length - questionEnd
    if (this.count >= cachedResponses || this.used + needed > memoryBytes) this.clear()
    const { table, memory, used: at } = this
    memory.writeUInt16LE(bytes.length, at)
    memory.writeUInt16LE(questionEnd, at + 2)
    memory.writeUInt16LE(answer.length, at + 4)
    const queryAt = at + lengthsBytes + answer.length
    answer.copy(memory, at + lengthsBytes)
    // The question itself is in the answer, at the same place.
    bytes.copy(memory, queryAt, 0, headerBytes)
    bytes.copy(memory, queryAt + headerBytes, questionEnd)
    this.used += needed
    this.count++
    const hash = this.hash(bytes)
    let free = hash
    // Where all are taken, the first makes room.
    for (let probe = 0; probe < probes; probe++) {
      if (table[((hash + probe) & (slots - 1)) * slotFields + 1] !== 0) continue
      free = hash + probe
      break
    }
    const slot = (free & (slots - 1)) * slotFields
    table[slot] = hash
    table[slot + 1] = at
  }

  private hash(bytes: Buffer): number {
    const { length } = bytes
    let hash = this.seed
    for (let at = headerBytes; at < length; at++)
      hash = Math.imul(hash ^ ((bytes[at] ?? 0) & caseless), fnvPrime)
    return hash ^ (hash >>> 15)
  }
}

const u16 = (memory: Buffer, at: number): number => (memory[at] ?? 0) | ((memory[at + 1] ?? 0) << 8)

/**
 * Whether the answer at `at` is one to this query: equal but for the id and the case of the name.
 */
function isSame(memory: Buffer, at: number, bytes: Buffer): boolean {
  const { length } = bytes
  if (u16(memory, at) !== length) return false
  const questionEnd = u16(memory, at + 2)
  const answerAt = at + lengthsBytes
  const queryAt = answerAt + u16(memory, at + 4)
  const nameEnd = questionEnd - behindNameBytes
  for (let index = headerBytes; index < questionEnd; index++) {
    const asked = bytes[index] ?? 0
    const known = memory[answerAt + index] ?? 0
    // No length of a label is the number of a letter.
    if (asked !== known && (index >= nameEnd || (asked ^ known) !== 0x20 || !isLetter(asked)))
      return false
  }
  for (let index = 2; index < headerBytes; index++)
    if (bytes[index] !== memory[queryAt + index]) return false
  const restAt = queryAt + headerBytes - questionEnd
  for (let index = questionEnd; index < length; index++)
    if (bytes[index] !== memory[restAt + index]) return false
  return true
}

/** Byte by byte: an answer is too short for `copy` to be worth its call. */
function copyFor(memory: Buffer, at: number, bytes: Buffer): Buffer {
  const questionEnd = u16(memory, at + 2)
  const length = u16(memory, at + 4)
  const answerAt = at + lengthsBytes
  const answer = Buffer.allocUnsafe(length)
  answer[0] = bytes[0] ?? 0
  answer[1] = bytes[1] ?? 0
  for (let index = 2; index < headerBytes; index++) answer[index] = memory[answerAt + index] ?? 0
  for (let index = headerBytes; index < questionEnd; index++) answer[index] = bytes[index] ?? 0
  for (let index = questionEnd; index < length; index++)
    answer[index] = memory[answerAt + index] ?? 0
  return answer
}
