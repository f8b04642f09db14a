/**
 * Response rate limiting over UDP, where the asker's address may be forged: each network (IPv4 /24, IPv6 /56) has so many answers a second. Beyond,
 * every second answer is truncated, so that an honest asker comes back over TCP, and the others are dropped.
 */
export type Decision = 'answer' | 'truncate' | 'drop'

export interface RateLimit {
  decide(address: string, nowMs: number): Decision
}

const answersPerSecond = 500
const burstSeconds = 2
const networksKept = 50_000

/** The network that an address belongs to. */
export function networkOf(address: string): string {
  const mapped = address.startsWith('::ffff:') ? address.slice(7) : address
  if (!mapped.includes(':')) return mapped.slice(0, mapped.lastIndexOf('.'))
  const [head = '', tail] = mapped.split('%')[0]?.split('::') ?? []
  const groups = head === '' ? [] : head.split(':')
  const rest = tail === undefined || tail === '' ? [] : tail.split(':')
  const full = [...groups, ...Array.from({ length: 8 - groups.length - rest.length }, () => '0'), ...rest]
  return `${full.slice(0, 3).join(':')}:${(Number.parseInt(full[3] ?? '0', 16) >> 8).toString(16)}`
}

/** Loopback is nobody's victim: the portal's own checks, and resolvers on this machine. */
const isLocal = (address: string): boolean => address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.')

export function createRateLimit(perSecond = answersPerSecond): RateLimit {
  let networks = new Map<string, { left: number; at: number; over: number }>()
  return {
    decide(address, nowMs) {
      if (isLocal(address)) return 'answer'
      const network = networkOf(address)
      let bucket = networks.get(network)
      if (!bucket) {
        // Forgetting all at once is cheap, and favours nobody for longer than a burst.
        if (networks.size >= networksKept) networks = new Map()
        bucket = { left: perSecond * burstSeconds, at: nowMs, over: 0 }
        networks.set(network, bucket)
      }
      bucket.left = Math.min(perSecond * burstSeconds, bucket.left + ((nowMs - bucket.at) / 1000) * perSecond)
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
