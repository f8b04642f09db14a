/**
 * The live log of one server: a socket with a fresh ticket for each connection, and a ring of
 * lines.
 */
import { useEffect, useState } from 'react'
import { logTicket } from '../../contract/wordpress.ts'
import { ApiError, call } from '../api.ts'
import { LogRing, socketAddress, withoutTicket, type LogLine } from './log-ring.ts'

export type StreamState = 'connecting' | 'live' | 'reconnecting' | 'stopped'

const firstWaitMs = 1000
const longestWaitMs = 15_000
/** Lines arrive in bursts; the screen is updated at most this often, ms. */
const drawEveryMs = 100

export interface LogStream {
  lines: readonly LogLine[]
  dropped: number
  state: StreamState
  /** The address that could not be reached, without its ticket. */
  failedUrl: string | undefined
  /** Why the log may not be read here. */
  refusal: string | undefined
  clear: () => void
}

export function useLogStream(id: string, open: boolean): LogStream {
  const [ring] = useState(() => new LogRing())
  const [, redraw] = useState(0)
  const [state, setState] = useState<StreamState>('connecting')
  const [failedUrl, setFailedUrl] = useState<string>()
  const [refusal, setRefusal] = useState<string>()

  useEffect(() => {
    if (!open) return
    let closed = false
    let socket: WebSocket | undefined
    let retry: ReturnType<typeof setTimeout> | undefined
    let wait = firstWaitMs
    let waiting: string[] = []
    const draw = setInterval(() => {
      if (waiting.length === 0) return
      ring.push(waiting)
      waiting = []
      redraw((count) => count + 1)
    }, drawEveryMs)

    const later = () => {
      if (closed) return
      setState('reconnecting')
      retry = setTimeout(() => void connect(), wait)
      wait = Math.min(longestWaitMs, wait * 2)
    }

    async function connect() {
      let url: string
      try {
        url = await call(logTicket, { params: { id } })
      } catch (error) {
        if (closed) return
        if (error instanceof ApiError && error.code === 'forbidden') setRefusal(error.message)
        setFailedUrl(logTicket.path.replace(':id', id))
        // A refusal is final; a failure is retried.
        if (
          error instanceof ApiError &&
          error.status >= 400 &&
          error.status < 500 &&
          error.status !== 429
        )
          setState('stopped')
        else later()
        return
      }
      if (closed) return
      const address = socketAddress(url, location.href)
      let opened = false
      socket = new WebSocket(address)
      socket.onopen = () => {
        opened = true
        wait = firstWaitMs
        // Each connection sends the last lines again.
        ring.clear()
        waiting = []
        redraw((count) => count + 1)
        setFailedUrl(undefined)
        setState('live')
      }
      socket.onmessage = (event) => {
        if (typeof event.data === 'string') waiting.push(event.data)
      }
      let lost = false
      const onLost = () => {
        if (lost) return
        lost = true
        if (!opened) setFailedUrl(withoutTicket(address))
        later()
      }
      // Chromium tells of an address that the content policy forbids by an error alone.
      socket.onerror = onLost
      socket.onclose = onLost
    }
    void connect()

    return () => {
      closed = true
      clearInterval(draw)
      clearTimeout(retry)
      socket?.close()
    }
  }, [id, open, ring])

  const clear = () => {
    ring.clear()
    redraw((count) => count + 1)
  }
  return { lines: ring.lines, dropped: ring.dropped, state, failedUrl, refusal, clear }
}
