/** A visitor's connection that becomes one of the site's own protocol (WebSocket). */
import http from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { toUpstream, toVisitor, withoutOurs, type Visit } from './headers.ts'
import { withinSite } from './shared-domain.ts'
import type { EdgeAddress } from './upstreams.ts'

export interface Tunnel {
  readonly request: http.IncomingMessage
  readonly socket: Duplex
  /** The bytes received after the request's head. */
  readonly head: Buffer
  readonly address: EdgeAddress
  readonly path: string
  readonly visit: Visit
}

export interface Tunnels {
  /** Ends the connection with all others. */
  hold(socket: Duplex): void
  /** `onStatus`: gets the site's status. `onFail`: the site did not answer. */
  open(tunnel: Tunnel, onStatus: (status: number) => void, onFail: () => void): void
  destroy(): void
}

/** `connectMs`, `answerMs`, `sharedDomain`: see createUpstreamClient. */
export function createTunnels({
  connectMs,
  answerMs,
  sharedDomain,
}: {
  connectMs: number
  answerMs: number
  sharedDomain: string | null
}): Tunnels {
  const tunnels = new Set<Duplex>()

  /** Cuts the connection attempt that does not come about, and the wait for a first byte. */
  const limitTime = (outgoing: http.ClientRequest) => {
    outgoing.once('socket', (socket: Socket) => {
      if (!socket.connecting) return
      const timer = setTimeout(
        () =>
          outgoing.destroy(
            Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }),
          ),
        connectMs,
      )
      socket.once('connect', () => clearTimeout(timer))
      socket.once('close', () => clearTimeout(timer))
    })
    const timer = setTimeout(
      () => outgoing.destroy(Object.assign(new Error('no answer in time'), { code: 'EANSWER' })),
      answerMs,
    )
    const clear = () => clearTimeout(timer)
    outgoing.once('response', clear)
    outgoing.once('upgrade', clear)
    outgoing.once('close', clear)
  }

  return {
    hold(socket) {
      tunnels.add(socket)
      socket.once('close', () => tunnels.delete(socket))
      socket.on('error', () => socket.destroy())
    },
    open({ request, socket, head, address, path, visit }, onStatus, onFail) {
      const outgoing = http.request({
        host: address.host,
        port: address.port,
        method: request.method,
        path,
        headers: toUpstream(withoutOurs(request.rawHeaders), request.headers.connection, visit, [
          'Connection',
          'Upgrade',
          'Upgrade',
          'websocket',
        ]),
        setHost: false,
        agent: false,
      })
      limitTime(outgoing)
      socket.once('close', () => outgoing.destroy())
      const headOf = (incoming: http.IncomingMessage, raw: readonly string[]) => {
        onStatus(incoming.statusCode ?? 0)
        let text = `HTTP/1.1 ${incoming.statusCode} ${incoming.statusMessage}\r\n`
        const own = withinSite(raw, visit.host, sharedDomain)
        for (let index = 0; index < own.length; index += 2)
          text += `${own[index]}: ${own[index + 1]}\r\n`
        return `${text}\r\n`
      }
      outgoing.once('upgrade', (incoming, upstream, upstreamHead) => {
        socket.write(headOf(incoming, incoming.rawHeaders))
        if (upstreamHead.length > 0) socket.write(upstreamHead)
        if (head.length > 0) upstream.write(head)
        tunnels.add(upstream)
        upstream.on('error', () => socket.destroy())
        upstream.once('close', () => {
          tunnels.delete(upstream)
          socket.destroy()
        })
        socket.once('close', () => upstream.destroy())
        upstream.pipe(socket).pipe(upstream)
      })
      // The site does not speak it: its answer, and the end of this connection.
      outgoing.once('response', (incoming) => {
        socket.write(headOf(incoming, [...toVisitor(incoming.rawHeaders), 'Connection', 'close']))
        incoming.pipe(socket)
      })
      outgoing.once('error', onFail)
      outgoing.end()
    },
    destroy() {
      for (const tunnel of tunnels) tunnel.destroy()
    },
  }
}
