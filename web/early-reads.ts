/**
 * Responses that public/theme.js requested before the program was loaded. They are kept only in
 * this page's memory.
 */

interface EarlyReads {
  /** Null: requested as a visitor, or with a cookie that this tab does not know yet. */
  readonly credential: string | null
  /** Keys are addresses such as /api/wp?limit=20. */
  readonly answers: Record<string, Promise<Response>>
}
declare global {
  interface Window {
    __earlyReads?: EarlyReads
  }
}

/** Milliseconds since the page was opened, after which an unused response is too old. */
const freshMs = 15_000

/** The response to a read that the same session requested early. Each is returned only once. */
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
