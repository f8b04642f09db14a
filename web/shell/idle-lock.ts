/**
 * Locks the screen after some minutes without a key, a touch or a movement in any tab of the
 * session. Each browser stores its own choice; the default is off.
 */
import { session } from '../session.ts'
import { lockEverywhere, onNews, tellTabs } from '../tabs.ts'

const key = 'lockAfterMinutes'
export const idleChoices = [0, 5, 15, 30, 60] as const
const listeners = new Set<() => void>()

/** Minutes; 0: never. */
export function lockAfter(): number {
  try {
    const minutes = Number(localStorage.getItem(key))
    return idleChoices.some((choice) => choice === minutes) ? minutes : 0
  } catch {
    return 0
  }
}

export function setLockAfter(minutes: number): void {
  try {
    if (minutes > 0) localStorage.setItem(key, String(minutes))
    else localStorage.removeItem(key)
  } catch {
    // Storage may be blocked; then the screen does not lock by itself.
  }
  for (const listener of listeners) listener()
}

/**
 * Calls the listener when the choice changes, in this tab or in another; the returned function
 * stops it.
 */
export function onLockAfter(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

const signs = ['keydown', 'pointerdown', 'pointermove', 'wheel', 'touchstart'] as const
/** Movements come by the hundred, so they are checked at most this often, ms. */
const checkEveryMs = 5_000

/**
 * Watches until the returned function is called. A machine that slept is locked when it wakes,
 * because the clock decides and not the timer.
 */
export function watchIdle(): () => void {
  let last = Date.now()
  let told = 0
  const look = () => {
    const minutes = lockAfter()
    if (minutes > 0 && Date.now() - last >= minutes * 60_000) lockEverywhere()
  }
  const seen = () => {
    // The movement that wakes the machine may come before the timer. It must not count as activity
    // if the pause was too long.
    if (Date.now() - last > checkEveryMs) look()
    last = Date.now()
    if (last - told < checkEveryMs || lockAfter() === 0) return
    told = last
    tellTabs('active', session.held())
  }
  // Activity in another tab of the session counts, so that a tab in the background does not lock
  // the one in use.
  const deafen = onNews(({ kind, id }) => {
    if (kind === 'active' && id === session.held()?.id) last = Date.now()
  })
  const chosen = () => {
    last = Date.now()
  }
  const timer = setInterval(look, checkEveryMs)
  listeners.add(chosen)
  for (const sign of signs) window.addEventListener(sign, seen, { passive: true })
  // Checked before the first movement after a pause counts as activity.
  document.addEventListener('visibilitychange', look)
  return () => {
    clearInterval(timer)
    deafen()
    listeners.delete(chosen)
    for (const sign of signs) window.removeEventListener(sign, seen)
    document.removeEventListener('visibilitychange', look)
  }
}
