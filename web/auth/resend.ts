import { useEffect, useState } from 'react'

const everySeconds = 60

/**
 * To whom a code was sent last, and when. Kept in the tab, so that the page that asks for it counts
 * on after a reload.
 */
const key = 'code-sent'
interface Sent {
  readonly email: string
  readonly at: number
}
/** `seconds`: until another one may be sent. */
export const noteCodeSent = (email: string, seconds = everySeconds): void => {
  const sent: Sent = { email, at: Date.now() - (everySeconds - seconds) * 1000 }
  sessionStorage.setItem(key, JSON.stringify(sent))
}
export const forgetCodeSent = (): void => sessionStorage.removeItem(key)
/** Seconds until another code may be sent to this address; 0: now. */
export function secondsUntilResend(email: string): number {
  try {
    const sent = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Sent> | null
    if (sent?.email !== email || typeof sent.at !== 'number') return 0
    return Math.max(0, everySeconds - Math.max(0, Date.now() - sent.at) / 1000)
  } catch {
    return 0
  }
}

/** Seconds until a code may be sent again; `restart` begins the minute anew. */
export function useResendTimer(secondsLeft = everySeconds) {
  const [until, setUntil] = useState(() => Date.now() + secondsLeft * 1000)
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (until <= Date.now()) return
    const timer = setInterval(() => {
      setNow(Date.now())
      if (Date.now() >= until) clearInterval(timer)
    }, 500)
    return () => clearInterval(timer)
  }, [until])
  const restart = (seconds = everySeconds) => {
    setNow(Date.now())
    setUntil(Date.now() + seconds * 1000)
  }
  return { seconds: Math.max(0, Math.ceil((until - now) / 1000)), restart }
}
