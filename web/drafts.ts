/**
 * Drafts survive the session: when it ends by itself, or the screen is locked, the open forms are
 * stored in this tab, and restored when the same customer is on the same page again. Passwords,
 * codes and cards are never stored; a customer who signs out, or another one who signs in, restores
 * nothing. A visitor's are stored too, for an outage replaces the screen of a registration.
 */
import { useEffect, useState, type Dispatch, type SetStateAction } from 'react'
import { draftsKey, ending, session } from './session.ts'

interface Kept {
  /** Since when they wait, ms since 1970. */
  readonly at: number
  readonly account: string
  readonly forms: Record<string, unknown>
}

/** In place of a customer's id. */
const visitor = ''
/** Whoever opens this tab later may be somebody else: so long a visitor's wait. */
const visitorMs = 15 * 60_000

/** What is on the screen now and differs from how it began. */
const open = new Map<string, unknown>()

function read(): Kept | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(draftsKey) ?? 'null') as Kept | null
    const isStale = kept?.account === visitor && Date.now() - kept.at > visitorMs
    return isStale ? undefined : (kept ?? undefined)
  } catch {
    return undefined
  }
}
function write(account: string, forms: Record<string, unknown>) {
  if (Object.keys(forms).length > 0)
    sessionStorage.setItem(
      draftsKey,
      JSON.stringify({ account, forms, at: Date.now() } satisfies Kept),
    )
  else sessionStorage.removeItem(draftsKey)
}

ending.keep = (account = visitor) => {
  // Who is signed in and not known yet is no visitor; and one who typed nothing leaves what waits.
  const isVisitor = account === visitor
  if (isVisitor && (session.signedIn() || open.size === 0 || draftsWait())) return
  // A second ending on the way (a locked screen, then a dead session) keeps what the first one did.
  const before = read()
  write(account, {
    ...(before?.account === account ? before.forms : {}),
    ...Object.fromEntries(open),
  })
}

function keptAs<T>(key: string): T | undefined {
  const kept = read()
  return kept !== undefined && kept.account === (session.user()?.id ?? visitor)
    ? (kept.forms[key] as T | undefined)
    : undefined
}

function forget(key: string) {
  const kept = read()
  if (kept === undefined || !(key in kept.forms)) return
  const { [key]: _, ...forms } = kept.forms
  write(kept.account, forms)
}

/** Whether something waits for a customer to come back. */
export const draftsWait = (): boolean => (read()?.account ?? visitor) !== visitor

/** Whoever signs in finds their own or nothing. */
export function dropDraftsOfOthers(account: string) {
  if (read()?.account !== account) sessionStorage.removeItem(draftsKey)
}

/** The form's initial or last saved value: it is not stored as a draft. */
interface Beginning<T> {
  readonly begun: T
  readonly setBegun: (value: T) => void
}

/**
 * `useState` for what somebody types. `name` is its own among the page's forms; `keep` leaves out
 * what may not be kept, and answers undefined where nothing is worth it.
 */
export function useDraft<T>(
  name: string,
  initial: T | (() => T),
  keep: (value: T) => unknown = (value) => value,
): [T, Dispatch<SetStateAction<T>>, Beginning<T>] {
  const [key] = useState(() => `${location.pathname} ${name}`)
  const [begun, setBegun] = useState(initial)
  const [value, setValue] = useState<T>(() => keptAs<T>(key) ?? begun)
  useEffect(() => forget(key), [key])
  useEffect(() => {
    const worth = value === begun ? undefined : keep(value)
    if (worth !== undefined) open.set(key, worth)
    return () => void open.delete(key)
  })
  return [value, setValue, { begun, setBegun }]
}
