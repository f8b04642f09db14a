/**
 * Drafts survive the session. When it ends by itself, or the screen is locked, the open forms are
 * stored in this tab. They are restored when the same customer opens the same page again.
 * Passwords, codes and cards are never stored. Signing out discards the drafts, and so does another
 * customer's sign-in. A visitor's drafts are stored too, because an outage replaces the
 * registration screen.
 */
import { useEffect, useState, type Dispatch, type SetStateAction } from 'react'
import { draftsKey, ending, session } from './session.ts'

interface Kept {
  /** When they were stored, ms since 1970. */
  readonly at: number
  readonly account: string
  readonly forms: Record<string, unknown>
}

/** Stands for the customer's id in a visitor's drafts. */
const visitor = ''
/** How long a visitor's drafts are kept, ms. A later user of this tab may be somebody else. */
const visitorMs = 15 * 60_000

/** Values on the screen that differ from the initial ones. */
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
  // A signed-in customer whose profile is not loaded yet is no visitor. A visitor who typed nothing
  // leaves stored drafts as they are.
  const isVisitor = account === visitor
  if (isVisitor && (session.signedIn() || open.size === 0 || draftsWait())) return
  // A second ending (a locked screen, then a dead session) keeps the drafts of the first.
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

/** Whether drafts of a customer, not of a visitor, are stored. */
export const draftsWait = (): boolean => (read()?.account ?? visitor) !== visitor

/** At a sign-in: drafts of another account are removed. */
export function dropDraftsOfOthers(account: string) {
  if (read()?.account !== account) sessionStorage.removeItem(draftsKey)
}

/** The form's initial or last saved value: it is not stored as a draft. */
interface Beginning<T> {
  readonly begun: T
  readonly setBegun: (value: T) => void
}

/**
 * `useState` for typed input. `name` is unique among the page's forms. `keep` omits what must not
 * be stored, and returns undefined where nothing is worth storing.
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
