/**
 * The live log over a WebSocket with a one-use ticket. Each socket has its own position in the
 * site's log: a slow reader is told how many lines it missed, and neither the server nor a fast
 * reader waits for it.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { later, minutes, seconds, type Clock } from '../platform/clock.ts'
import { databaseError, type Database, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Caller } from '../platform/http.ts'
import { loopbackNames } from '../platform/loopback.ts'
import type { LogLine, WordpressDriver } from './driver.ts'

const ticketLifeMs = seconds(60)
const backlogLines = 200
const batchLines = 500
/** With more than this unsent, bytes, the socket is sent nothing until it has read. */
const maxBufferedBytes = 256 * 1024
const streamLifeMs = minutes(60)
/** Close code that makes the client ask for a new ticket, which only a living session gets. */
const askAgain = 4401
const drainMs = 100
/** How long a reader may take to answer the close when the portal stops. */
const closeWaitMs = 2000

/**
 * `<time> <container> - - <line>`; a `- -` inside the line gets a second space, so that splitting
 * on it keeps the whole line.
 */
export const frameLine = (line: LogLine): string =>
  `${line.at.toISOString()} ${line.container} - - ${line.text.replace(/-(?= -)/g, '- ')}`

export interface LogStreams {
  /**
   * A WebSocket address with a ticket that opens it once, within a minute, while the session lives.
   */
  ticket(siteId: string, caller: Caller): Promise<string>
  /** Handles an upgrade when its path is a log stream's; answers false otherwise. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean
  /**
   * Closes the streams of these sessions and accounts; all streams when it is unknown which have
   * ended. A client that still has access comes back with a new ticket.
   */
  end(ended: ReadonlySet<string> | 'unknown'): void
  close(): void
}

/** Deletes the tickets for servers of these customers. */
export async function dropLogTickets(tx: Tx, customerIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('log_ticket').where('customer_id', 'in', customerIds).execute()
}

/** The customer and session of a stream, and until when it may stay open. */
interface Opener {
  readonly customerId: string
  readonly sessionId: string
  readonly until: Date
}

const path = /^\/api\/wp\/([0-9a-f-]{36})\/log\/stream$/

export function createLogStreams(deps: {
  db: Database
  clock: Clock
  driver: WordpressDriver
  portalUrl: string
  /** Until when a session has access to the customer's servers; undefined: not any more. */
  opensUntil: (of: { customerId: string; sessionId: string }) => Promise<Date | undefined>
}): LogStreams {
  const { db, clock, driver } = deps
  const server = new WebSocketServer({ noServer: true, maxPayload: 1024, perMessageDeflate: false })
  const portal = new URL(deps.portalUrl)
  let closing = false
  const hashOf = (ticket: string): Buffer => createHash('sha256').update(ticket).digest()

  /**
   * Whether the origin is ours: the address that was asked for, the portal's own (a proxy may not
   * pass Host on), or another name of this machine with the same port.
   */
  const isOurs = (origin: string, asked: string | undefined): boolean => {
    if (!URL.canParse(origin)) return false
    const { host, hostname, port } = new URL(origin)
    return (
      host === asked ||
      host === portal.host ||
      (port === portal.port && loopbackNames.has(hostname) && loopbackNames.has(portal.hostname))
    )
  }

  /**
   * Uses up a ticket and checks access again: since it was made, the server and the session may
   * have changed.
   */
  async function redeem(siteId: string, ticket: string): Promise<Opener | undefined> {
    const row = await db
      .deleteFrom('log_ticket')
      .where('ticket_hash', '=', hashOf(ticket))
      .where('site_id', '=', siteId)
      .where('expires_at', '>', clock.now())
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('site')
            .select('site.id')
            .whereRef('site.id', '=', 'log_ticket.site_id')
            .whereRef('site.customer_id', '=', 'log_ticket.customer_id'),
        ),
      )
      .returning(['session_id', 'customer_id'])
      .executeTakeFirst()
    if (!row) return undefined
    const of = { customerId: row.customer_id, sessionId: row.session_id }
    const until = await deps.opensUntil(of)
    return until && { ...of, until }
  }

  const openerOf = new WeakMap<WebSocket, Opener>()

  function stream(socket: WebSocket, siteId: string, opener: Opener): void {
    openerOf.set(socket, opener)
    const log = driver.log(siteId)
    /** -1: nothing sent yet. */
    let seen = -1
    /** How many lines the site had written up to what was sent. */
    let written = 0
    let reading = false
    let moreCame = false
    const isOpen = (): boolean => socket.readyState === socket.OPEN

    /** Resolves once the reader has taken enough for more to be sent, or is gone. */
    const drained = async (): Promise<void> => {
      while (isOpen() && socket.bufferedAmount > maxBufferedBytes)
        await new Promise((resolve) => setTimeout(resolve, drainMs))
    }
    const send = async (lines: readonly LogLine[]): Promise<void> => {
      for (const line of lines) {
        await drained()
        if (!isOpen()) return
        // Lines that left the ring buffer before this reader could take them.
        const before = line.seq - (line.leftOut ?? 0) - 1
        const missed = before - written
        if (seen >= 0 && missed > 0)
          socket.send(`${line.at.toISOString()} portal - - (${missed} lines skipped)`)
        socket.send(frameLine(line))
        seen = line.seq
        written = before + 1
      }
    }
    const catchUp = async (): Promise<void> => {
      moreCame = true
      if (reading) return
      reading = true
      try {
        while (moreCame && isOpen()) {
          moreCame = false
          const lines = seen < 0 ? await log.tail(backlogLines) : await log.after(seen, batchLines)
          await send(lines)
          if (lines.length === batchLines) moreCame = true
        }
      } catch {
        // The site runtime is unavailable: the page reconnects with a new ticket and continues
        // where it was.
        socket.close(askAgain, 'ask for a new ticket')
      } finally {
        reading = false
      }
    }
    const unwatch = log.watch(() => void catchUp())
    const life = setTimeout(
      () => socket.close(askAgain, 'ask for a new ticket'),
      Math.min(streamLifeMs, opener.until.getTime() - clock.now().getTime()),
    )
    socket.on('close', () => {
      unwatch()
      clearTimeout(life)
    })
    socket.on('error', () => socket.terminate())
    void catchUp()
  }

  const refuse = (socket: Duplex, status: string): void => {
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  }

  return {
    async ticket(siteId, { customerId, sessionId }) {
      const ticket = randomBytes(24).toString('base64url')
      const now = clock.now()
      await db.deleteFrom('log_ticket').where('expires_at', '<', now).execute()
      await db
        .insertInto('log_ticket')
        .values({
          ticket_hash: hashOf(ticket),
          site_id: siteId,
          customer_id: customerId,
          session_id: sessionId,
          expires_at: later(now, ticketLifeMs),
        })
        .execute()
        .catch((error: unknown) => {
          // The session ended just now.
          if (databaseError(error)?.constraint === 'log_ticket_session_id_fkey')
            throw new Refusal('unauthenticated')
          throw error
        })
      return `${deps.portalUrl.replace(/^http/, 'ws')}/api/wp/${siteId}/log/stream?ticket=${ticket}`
    },
    upgrade(request, socket, head) {
      const url = new URL(request.url ?? '/', 'http://portal')
      const siteId = path.exec(url.pathname)?.[1]
      if (siteId === undefined) return false
      const origin = request.headers.origin
      // A page of another site may not open a customer's log even with a stolen ticket.
      if (origin !== undefined && !isOurs(origin, request.headers.host)) {
        refuse(socket, '403 Forbidden')
        return true
      }
      redeem(siteId, url.searchParams.get('ticket') ?? '').then(
        (redeemed) => {
          if (closing) refuse(socket, '503 Service Unavailable')
          else if (!redeemed) refuse(socket, '403 Forbidden')
          else
            server.handleUpgrade(request, socket, head, (opened) =>
              stream(opened, siteId, redeemed),
            )
        },
        () => refuse(socket, '503 Service Unavailable'),
      )
      return true
    },
    end(ended) {
      for (const socket of server.clients) {
        const { sessionId = '', customerId = '' } = openerOf.get(socket) ?? {}
        if (ended !== 'unknown' && !ended.has(sessionId) && !ended.has(customerId)) continue
        socket.close(askAgain, 'ask for a new ticket')
        setTimeout(() => socket.terminate(), closeWaitMs).unref()
      }
    },
    close() {
      closing = true
      for (const socket of server.clients) {
        socket.close(1012, 'restarting')
        // ws itself waits half a minute, longer than the portal may take to stop.
        setTimeout(() => socket.terminate(), closeWaitMs).unref()
      }
    },
  }
}
