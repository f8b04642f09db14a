// Limits the concurrent requests of one client, so that a visitor who requests many pages at once,
// or uploads many files, leaves PHP processes to others.
import net from 'node:net'

/** Most requests of a client that are being handled, and that wait behind them. */
const atOnce = 8
const inLine = 24
const waitMs = 20_000

/**
 * The network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address.
 * Null for loopback: the portal, the site itself, or a proxy that does not name its visitors.
 */
export function clientKey(address) {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (plain.startsWith('127.') || plain === '::1') return null
  if (!net.isIPv6(plain)) return plain
  const [head, tail = ''] = plain.replace(/%.*$/, '').split('::')
  const parts = (text) => (text === '' ? [] : text.split(':'))
  const [before, after] = [parts(head), parts(tail)]
  const zeros = plain.includes('::') ? Math.max(0, 8 - before.length - after.length) : 0
  return [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(':')
}

export class ClientLimits {
  /** By client: the number of requests being handled, and the waiting ones. */
  #clients = new Map()

  /**
   * @param {string} address the visitor's
   * @param response whose `close` ends the wait
   * @returns {Promise<(() => void) | 'refused' | 'left'>} what ends the turn, to be called once
   */
  async enter(address, response) {
    const key = clientKey(address)
    if (key === null) return () => {}
    let client = this.#clients.get(key)
    if (!client) this.#clients.set(key, (client = { busy: 0, line: [] }))
    if (client.busy >= atOnce) {
      if (client.line.length >= inLine) return 'refused'
      const outcome = await this.#wait(client, response)
      if (outcome !== 'turn') return outcome
    } else client.busy++
    return () => {
      const next = client.line.shift()
      if (next) return next('turn')
      client.busy--
      if (client.busy === 0) this.#clients.delete(key)
    }
  }

  #wait(client, response) {
    return new Promise((resolve) => {
      const leave = (outcome) => () => {
        const at = client.line.indexOf(done)
        if (at >= 0) client.line.splice(at, 1)
        done(outcome)
      }
      const timer = setTimeout(leave('refused'), waitMs)
      const onClose = leave('left')
      const done = (outcome) => {
        clearTimeout(timer)
        response.off('close', onClose)
        resolve(outcome)
      }
      response.once('close', onClose)
      client.line.push(done)
    })
  }
}
