/** Where something listens, as people write it down: a host and a port. */

const form = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):(0|[1-9]\d{0,4})$/i

export interface HostAndPort {
  /** An IPv6 address without brackets. */
  readonly host: string
  readonly port: number
}

/**
 * Reads `10.0.0.2:7443`, `[2001:db8::2]:7443` or `node-2.internal:7443`; undefined for anything
 * else, such as a port above 65535. `leastPort` 0: for an address to listen at, where port 0 is
 * any free one.
 */
export function readHostAndPort(text: string, leastPort: 0 | 1 = 1): HostAndPort | undefined {
  const [, six, other, digits] = form.exec(text) ?? []
  const host = six ?? other
  const port = Number(digits)
  if (host === undefined || port < leastPort || port > 65_535) return undefined
  return { host, port }
}
