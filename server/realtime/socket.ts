/**
 * The WebSocket side of the embedded Pusher-protocol server: connect, subscribe, ping. Only private
 * channels, no client events.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import type { Clock } from '../platform/clock.ts'
import { isLocalAddress, networkOf } from '../platform/network.ts'
import { closeCodes, frame, protocolError, type Connection, type Hub, type Member } from './hub.ts'
import { channelAuthHolds, type AppKey } from './signature.ts'

const activityTimeoutSeconds = 120
const pongWaitSeconds = 30
const maxConnections = 20_000
/** Limit per network; a local network is exempt, because a proxy there may stand for everybody. */
const maxOfNetwork = 500
const maxFrameBytes = 16 * 1024
const channelName = /^[A-Za-z0-9_\-=@,.;]{1,164}$/

export interface Sockets {
  /**
   * Accepts an upgrade whose path is the protocol's; false: the upgrade is for another handler.
   * @param client the caller's address
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, client: string): boolean
  close(): void
}

const isLocal = (client: string): boolean => isIP(client) === 0 || isLocalAddress(client)

export function createSockets(
  app: AppKey,
  hub: Hub,
  clock: Clock,
  timeouts = { activity: activityTimeoutSeconds, pong: pongWaitSeconds },
): Sockets {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: false,
  })
  let closing = false
  const ofNetwork = new Map<string, number>()
  const count = (network: string, more: 1 | -1): void => {
    const connections = (ofNetwork.get(network) ?? 0) + more
    if (connections === 0) ofNetwork.delete(network)
    else ofNetwork.set(network, connections)
  }
  const now = (): number => clock.now().getTime()

  const refuse = (connection: Connection, code: number, message: string): void => {
    connection.send(protocolError(code, message))
    connection.close(code, message)
  }

  function subscribe(member: Member, data: unknown): void {
    const { channel, auth } = (data ?? {}) as { channel?: unknown; auth?: unknown }
    if (typeof channel !== 'string' || !channelName.test(channel)) {
      member.connection.send(protocolError(closeCodes.restart, 'Invalid channel name'))
      return
    }
    if (
      !channel.startsWith('private-') ||
      !channelAuthHolds(app, member.socketId, channel, typeof auth === 'string' ? auth : '')
    ) {
      member.connection.send(
        JSON.stringify({
          event: 'pusher:subscription_error',
          channel,
          data: { type: 'AuthError', error: 'Not authorised for this channel', status: 401 },
        }),
      )
      return
    }
    if (!hub.subscribe(member, channel)) {
      member.connection.send(protocolError(closeCodes.overCapacity, 'Too many channels'))
      return
    }
    member.connection.send(frame('pusher_internal:subscription_succeeded', {}, channel))
  }

  function onMessage(member: Member, text: string): void {
    member.lastReceivedAt = now()
    member.pinged = false
    let message: { event?: unknown; data?: unknown }
    try {
      message = JSON.parse(text) as typeof message
      if (typeof message.data === 'string') message.data = JSON.parse(message.data) as unknown
    } catch {
      member.connection.send(protocolError(closeCodes.restart, 'Invalid JSON'))
      return
    }
    const data = message.data as { channel?: unknown } | undefined
    switch (message.event) {
      case 'pusher:ping':
        member.connection.send(frame('pusher:pong', {}))
        return
      case 'pusher:pong':
        return
      case 'pusher:subscribe':
        subscribe(member, data)
        return
      case 'pusher:unsubscribe':
        if (typeof data?.channel === 'string') hub.unsubscribe(member, data.channel)
        return
      default:
        member.connection.send(
          protocolError(
            4301,
            typeof message.event === 'string' && message.event.startsWith('client-')
              ? 'Client events are disabled'
              : 'Unknown event',
          ),
        )
    }
  }

  function greet(socket: WebSocket, url: URL, client: string): void {
    const connection: Connection = {
      send: (text) => {
        if (socket.readyState === socket.OPEN) socket.send(text)
      },
      close: (code, reason) => {
        socket.close(code, reason)
        // A peer that does not answer the close is cut off.
        setTimeout(() => socket.terminate(), 2000).unref()
      },
      get bufferedAmount() {
        return socket.bufferedAmount
      },
    }
    socket.on('error', () => socket.terminate())
    const key = /^\/app\/([^/]+)$/.exec(url.pathname)?.[1]
    const version = url.searchParams.get('protocol')
    if (closing) return refuse(connection, closeCodes.restart, 'Server restarting')
    if (key === undefined) return refuse(connection, closeCodes.unknownPath, 'Path not found')
    if (key !== app.key)
      return refuse(connection, closeCodes.unknownApp, 'Application does not exist')
    if (version === null)
      return refuse(connection, closeCodes.noVersion, 'No protocol version supplied')
    if (!/^\d+$/.test(version))
      return refuse(connection, closeCodes.badVersion, 'Invalid version string format')
    if (Number(version) < 5 || Number(version) > 7)
      return refuse(connection, closeCodes.unsupportedVersion, 'Unsupported protocol version')
    const network = networkOf(client)
    const isCrowded = !isLocal(client) && (ofNetwork.get(network) ?? 0) >= maxOfNetwork
    if (hub.size >= maxConnections || isCrowded)
      return refuse(connection, closeCodes.overCapacity, 'Over capacity')
    count(network, 1)
    const member = hub.join(connection, now())
    socket.on('message', (data, binary) => {
      if (binary) refuse(connection, closeCodes.restart, 'Binary frames are not supported')
      else onMessage(member, (data as Buffer).toString('utf8'))
    })
    socket.on('close', () => {
      hub.leave(member)
      count(network, -1)
    })
    connection.send(
      frame('pusher:connection_established', {
        socket_id: member.socketId,
        activity_timeout: timeouts.activity,
      }),
    )
  }

  // One timer for all: a silent client is pinged, then disconnected.
  const sweep = setInterval(
    () => {
      for (const member of hub.members()) {
        const idleSeconds = (now() - member.lastReceivedAt) / 1000
        if (idleSeconds > timeouts.activity + timeouts.pong)
          refuse(member.connection, closeCodes.silent, 'Pong reply not received in time')
        else if (idleSeconds > timeouts.activity && !member.pinged) {
          member.pinged = true
          member.connection.send(frame('pusher:ping', {}))
        }
      }
    },
    Math.min(5000, timeouts.activity * 250),
  )
  sweep.unref()

  return {
    upgrade(request, socket, head, client) {
      const url = new URL(request.url ?? '/', 'http://portal')
      if (!url.pathname.startsWith('/app/')) return false
      server.handleUpgrade(request, socket, head, (opened) => greet(opened, url, client))
      return true
    },
    close() {
      closing = true
      clearInterval(sweep)
      for (const member of hub.members())
        member.connection.close(closeCodes.restart, 'Server restarting')
    },
  }
}
