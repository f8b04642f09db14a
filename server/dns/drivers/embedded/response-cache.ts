/**
 * A cache of responses over UDP. A response follows from the query, except its id and the case of
 * the letters that echo the question: resolvers choose that case at random against forgery
 * (draft-vixie-dnsext-dns0x20), so a cache that compared the case would never hit.
 */
// Imported, because the global is a getter that costs as much as the allocation.
import { Buffer } from 'node:buffer'
import { headerBytes } from './wire.ts'

/** Longest query whose response is cached: a name and a bare OPT. */
const cachedQueryBytes = 280
/** The maximum number, because each response costs some 300 bytes of overhead; */
const cachedResponses = 30_000
/**
 * and the maximum bytes of queries and responses, because names below a wildcard with a long text
 * can be queried without limit.
 */
const cachedBytes = 16 * 2 ** 20
/** The id at the start of a message. */
const idBytes = 2
/** The bytes after a name: type and class. */
const behindNameBytes = 4

interface Cached {
  readonly query: Buffer
  /** The question is at the same position in the query and in its response. */
  readonly questionEnd: number
  readonly answer: Buffer
}

const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a

/**
 * Folds the case of letters, and of some other bytes too: entries with the same key are compared
 * byte by byte.
 */
const keyOf = (bytes: Buffer): string => bytes.toString('latin1', idBytes).toLowerCase()

export class ResponseCache {
  private readonly responses = new Map<string, Cached>()
  private bytes = 0

  clear(): void {
    if (this.responses.size > 0) this.responses.clear()
    this.bytes = 0
  }

  /** The cached response to this query, with its id and case. Undefined: not cached. */
  find(bytes: Buffer): Buffer | undefined {
    if (bytes.length > cachedQueryBytes || bytes.length < headerBytes) return undefined
    const cached = this.responses.get(keyOf(bytes))
    return cached && isSame(cached, bytes) ? copyFor(cached, bytes) : undefined
  }

  /** Caches the response to a query that has a question. */
  store(bytes: Buffer, questionEnd: number, answer: Buffer): void {
    if (bytes.length > cachedQueryBytes) return
    if (this.responses.size >= cachedResponses || this.bytes >= cachedBytes) this.clear()
    // A response that replaces another is counted twice until the cache is cleared.
    this.bytes += bytes.length + answer.length
    // Copies, because the caller may reuse both buffers.
    this.responses.set(keyOf(bytes), {
      query: Buffer.from(bytes),
      questionEnd,
      answer: Buffer.from(answer),
    })
  }
}

/** Whether two queries are equal except for the id and the case of the name. */
function isSame({ query, questionEnd }: Cached, bytes: Buffer): boolean {
  const { length } = bytes
  if (query.length !== length) return false
  const nameEnd = questionEnd - behindNameBytes
  for (let at = idBytes; at < length; at++) {
    const [known = 0, queryByte = 0] = [query[at], bytes[at]]
    if (known === queryByte) continue
    // A label's length byte is never the code of a letter.
    const inName = at >= headerBytes && at < nameEnd
    if (!inName || (known ^ queryByte) !== 0x20 || !isLetter(queryByte)) return false
  }
  return true
}

function copyFor({ answer, questionEnd }: Cached, bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafe(answer.length)
  copy.set(answer)
  for (let at = 0; at < idBytes; at++) copy[at] = bytes[at] ?? 0
  for (let at = headerBytes; at < questionEnd; at++) copy[at] = bytes[at] ?? 0
  return copy
}
