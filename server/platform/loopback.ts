/** Whether an address is this machine itself, however it is written. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The names by which a browser on this machine opens the portal, as URL.hostname writes them. */
export const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * True for 127.0.0.0/8, ::1 (also IPv4-mapped), localhost and names below it; brackets are no
 * matter.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (isIP(bare) === 0) return bare === 'localhost' || bare.endsWith('.localhost')
  return ipaddr.process(bare).range() === 'loopback'
}
