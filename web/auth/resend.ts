import { useEffect, useState } from 'react'

const everySeconds = 60

/** The recipient of the last code, set by the screen that leads to the code's page. */
let sentTo: string | undefined
export const noteCodeSent = (email: string): void => void (sentTo = email)
export const wasCodeSent = (email: string): boolean => sentTo === email

/** Seconds until a code may be sent again; `restart` restarts the minute. */
export function useResendTimer(startNow: boolean) {
  const [until, setUntil] = useState(() => (startNow ? Date.now() + everySeconds * 1000 : 0))
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
