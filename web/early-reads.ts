/**
 * Responses that public/theme.js requested before the program was loaded. They are kept in this
 * page's memory only.
 */

interface EarlyReads {
  /** Null: a visitor's, or by the cookie that this tab does not know of yet. */
  readonly credential: string | null
  /** By address, such as /api/wp?limit=20. */
  readonly answers: Record<string, Promise<Response>>
}
declare global {
  interface Window {
    __earlyReads?: EarlyReads
  }
}

/**
 * Milliseconds since the page was opened, after which an answer that nobody took is too old to be
 * used.
 */
const freshMs = 15_000

/** The answer to a read, if it was asked for early by the same session; each only once. */
export function takeEarlyRead(
  address: string,
  credential: string | null,
): Promise<Response> | undefined {
  const early = window.__earlyReads
  const answer = early?.answers[address]
  if (!early || !answer) return undefined
  delete early.answers[address]
  return early.credential === credential && performance.now() < freshMs ? answer : undefined
}
