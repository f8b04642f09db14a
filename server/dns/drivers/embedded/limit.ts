/**
 * Response rate limiting over UDP, where the source address may be forged: each network (IPv4 /24,
 * IPv6 /56) has a number of responses per second. Beyond it, every second response is truncated, so
 * that an honest client comes back over TCP; the others are dropped.
 */
export type Decision = 'answer' | 'truncate' | 'drop'

export interface RateLimit {
  decide(address: string, nowMs: number): Decision
}

const answersPerSecond = 500
const burstSeconds = 2
const networksKept = 50_000

const colon = 0x3a
const percent = 0x25
/** The groups of the present address; an address has eight. */
const groups = new Uint16Array(8)

/**
 * The first 56 bits of an IPv6 address. Parsed by character: splitting it into strings took longer
 * than the response.
 */
function networkOf6(address: string): string {
  let count = 0
  /** The position of "::": the number of groups before it. */
  let gap = -1
  let value = 0
  let isOpen = false
  for (let at = 0; at < address.length && count < 8; at++) {
    const code = address.charCodeAt(at)
    if (code === percent) break
    if (code !== colon) {
      // 0 to 9 are 0x30 to 0x39; a to f in either case end in 1 to 6
      value = (value << 4) | (code < colon ? code & 15 : (code & 7) + 9)
      isOpen = true
      continue
    }
    if (isOpen) groups[count++] = value
    else gap = count
    value = 0
    isOpen = false
  }
  if (isOpen && count < 8) groups[count++] = value
  // "1::" ends at its gap; in "::1" the first of the two colons ends no group.
  const zeros = 8 - count
  const group = (index: number): number => {
    if (gap < 0 || index < gap) return groups[index] ?? 0
    return index < gap + zeros ? 0 : (groups[index - zeros] ?? 0)
  }
  return `${group(0)}:${group(1)}:${group(2)}:${group(3) >> 8}`
}

/** The network that an address belongs to. */
export function networkOf(address: string): string {
  const mapped = address.startsWith('::ffff:') ? address.slice(7) : address
  return mapped.includes(':') ? networkOf6(mapped) : mapped.slice(0, mapped.lastIndexOf('.'))
}

/**
 * Loopback addresses are not limited, because no attack can be reflected to them: the portal's own
 * checks, and resolvers on this machine.
 */
const isLocal = (address: string): boolean =>
  address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.')

export function createRateLimit(perSecond = answersPerSecond): RateLimit {
  let networks = new Map<string, { left: number; at: number; over: number }>()
  return {
    decide(address, nowMs) {
      if (isLocal(address)) return 'answer'
      const network = networkOf(address)
      let bucket = networks.get(network)
      if (!bucket) {
        // Forgetting all networks at once is cheap, and gives a network at most one extra burst.
        if (networks.size >= networksKept) networks = new Map()
        bucket = { left: perSecond * burstSeconds, at: nowMs, over: 0 }
        networks.set(network, bucket)
      }
      bucket.left = Math.min(
        perSecond * burstSeconds,
        bucket.left + ((nowMs - bucket.at) / 1000) * perSecond,
      )
      bucket.at = nowMs
      if (bucket.left >= 1) {
        bucket.left--
        return 'answer'
      }
      bucket.over++
      return bucket.over % 2 === 0 ? 'truncate' : 'drop'
    },
  }
}
