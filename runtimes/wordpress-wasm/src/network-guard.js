// What a customer's PHP may reach. php-wasm opens PHP's sockets in this process: a WebSocket on
// loopback connects each one to a small proxy, which connects onward with node:net. So the guard is
// in node:net itself, where it cannot be bypassed. It only allows php-wasm's own helper ports, and
// public addresses when the site may reach the internet. Names are resolved in this process too,
// with node:dns.
import { AsyncLocalStorage } from 'node:async_hooks'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

// The special-purpose ranges of IANA's registries. A test of the portal compares them with the
// portal's own list.
const denied = new net.BlockList()
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
])
  denied.addSubnet(address, prefix)
for (const [address, prefix] of [
  ['::', 112],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
])
  denied.addSubnet(address, prefix, 'ipv6')

/**
 * Whether an IP address is one that a customer's code must not reach. IPv4-mapped and
 * IPv4-compatible IPv6 addresses count as the IPv4 address inside.
 */
export function isDenied(address) {
  const plain = address.replace(/%.*$/, '').replace(/^\[|\]$/g, '')
  if (net.isIPv4(plain)) return denied.check(plain, 'ipv4')
  if (!net.isIPv6(plain)) return true
  // The URL parser writes every spelling of an IPv6 address in one form.
  const canonical = new URL(`http://[${plain}]/`).hostname.slice(1, -1)
  const mapped = /^::(?:ffff:)?([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical)
  if (mapped) {
    const high = Number.parseInt(mapped[1], 16)
    const low = Number.parseInt(mapped[2], 16)
    return denied.check(`${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`, 'ipv4')
  }
  return denied.check(canonical, 'ipv6')
}

/** Names of this machine by RFC 6761, which not every resolver knows. */
const isLocalName = /(?:^|\.)localhost$/i

/**
 * What PHP may reach beyond php-wasm's helper ports. Off the internet that is the address of the
 * site itself, at which WordPress asks for its own pages (Site Health, background requests): where
 * the name of `url` leads, which is the operator's. The site's further names are the customer's,
 * who may point them anywhere. Nor is another name looked up: a question can carry as much out as a
 * connection.
 * @param order `internet` and `url` of the boot order
 */
export function createNetworkPolicy({ internet, url }) {
  const { hostname, port, protocol } = new URL(url)
  const ownPort = Number(port || (protocol === 'https:' ? 443 : 80))
  let ownAddresses = new Set()
  const isOwn = (name) => name.toLowerCase() === hostname
  return {
    internet,
    mayLookUp: (name) => internet || net.isIP(name) !== 0 || name === 'localhost' || isOwn(name),
    /** Called with the addresses of every name that was resolved. */
    found(name, addresses) {
      if (isOwn(name)) ownAddresses = new Set(addresses)
    },
    mayConnect: (address, port) =>
      (Number(port) === ownPort && ownAddresses.has(address)) || (internet && !isDenied(address)),
    /** Whether it is the site's own address, which on a laptop is loopback. */
    isOwn: (address, port) => Number(port) === ownPort && ownAddresses.has(address),
    /** The address of a name that needs no query; null: it must be resolved. */
    known: (name) => (isOwn(name) && isLocalName.test(name) ? '127.0.0.1' : null),
  }
}

let ownCalls = 0
let tellOwnCalls = () => {}
function countOwnCall(socket) {
  tellOwnCalls(++ownCalls)
  socket.once('close', () => tellOwnCalls(--ownCalls))
}
/**
 * `tell` is called with the number of PHP's open connections to the site's own address whenever it
 * changes.
 */
export function onOwnCalls(tell) {
  tellOwnCalls = tell
}

const own = new AsyncLocalStorage()
const helperPorts = new Set()

/**
 * Runs `work`, in which this program itself may open listening ports; PHP's side may connect to
 * them when `helper` is set.
 */
export const allowListening = (helper, work) => own.run({ helper }, work)

const refusal = (what) =>
  Object.assign(new Error(`refused by the network guard: ${what}`), { code: 'EACCES' })

function guardLookups(policy, report) {
  const { lookup } = dns
  const { lookup: lookupSoon } = dns.promises
  const isRefused = (name) => {
    if (policy.mayLookUp(String(name))) return false
    report(name)
    return true
  }
  const found = (name, answer) =>
    policy.found(
      String(name),
      [answer].flat().map((one) => one.address ?? one),
    )
  dns.lookup = (name, ...rest) => {
    const done = rest.pop()
    const known = policy.known(String(name))
    if (known !== null) {
      found(name, known)
      return process.nextTick(done, null, rest[0]?.all ? [{ address: known, family: 4 }] : known, 4)
    }
    if (isRefused(name)) return process.nextTick(done, refusal(name))
    return lookup(name, ...rest, (error, answer, family) => {
      if (!error) found(name, answer)
      done(error, answer, family)
    })
  }
  dns.promises.lookup = async (name, options) => {
    const known = policy.known(String(name))
    if (known !== null) {
      found(name, known)
      return options?.all ? [{ address: known, family: 4 }] : { address: known, family: 4 }
    }
    if (isRefused(name)) throw refusal(name)
    const answer = await lookupSoon(name, options)
    found(name, answer)
    return answer
  }
  // php-wasm imports these functions as ES module bindings, which must be updated.
  syncBuiltinESMExports()
}

/** Installs the guard, once. `report` is called for each refused target. */
export function installNetworkGuard(policy, report) {
  guardLookups(policy, report)
  const listen = net.Server.prototype.listen
  net.Server.prototype.listen = function (...args) {
    const permit = own.getStore()
    if (!permit) {
      // stream_socket_server() in PHP arrives here: php-wasm would open a port of the host, on all
      // its addresses.
      report('listen')
      process.nextTick(() => this.emit('error', refusal('listen')))
      return this
    }
    if (permit.helper) {
      this.once('listening', () => {
        const port = this.address()?.port
        if (!port) return
        helperPorts.add(port)
        this.once('close', () => helperPorts.delete(port))
      })
    }
    return listen.apply(this, args)
  }

  const connect = net.Socket.prototype.connect
  net.Socket.prototype.connect = function (...args) {
    const first = Array.isArray(args[0]) ? args[0][0] : args[0]
    const options =
      typeof first === 'object' && first !== null
        ? first
        : { port: first, host: typeof args[1] === 'string' ? args[1] : undefined }
    const host = String(options.host ?? 'localhost')
    const refuse = () => {
      report(`${options.path ?? host}:${options.port ?? ''}`)
      process.nextTick(() => this.destroy(refusal(host)))
      return this
    }
    if (options.path !== undefined && options.path !== null && options.port === undefined)
      return refuse()
    if (host === '127.0.0.1' && helperPorts.has(Number(options.port)))
      return connect.apply(this, args)
    this.once('connect', () => {
      if (policy.isOwn(this.remoteAddress, options.port)) countOwnCall(this)
    })
    if (net.isIP(host) !== 0)
      return policy.mayConnect(host, options.port) ? connect.apply(this, args) : refuse()
    // For a connection by name, the resolved address is checked, and exactly that address is used.
    const guarded = {
      ...options,
      host,
      lookup: (name, lookupOptions, done) =>
        dns.lookup(name, lookupOptions, (error, found, family) => {
          if (error) return done(error)
          const addresses = Array.isArray(found) ? found.map((one) => one.address) : [found]
          if (!addresses.every((address) => policy.mayConnect(address, options.port))) {
            report(`${name}:${options.port}`)
            return done(refusal(name))
          }
          return done(null, found, family)
        }),
    }
    const callback = (Array.isArray(args[0]) ? args[0] : args).findLast(
      (one) => typeof one === 'function',
    )
    return callback ? connect.call(this, guarded, callback) : connect.call(this, guarded)
  }
}
