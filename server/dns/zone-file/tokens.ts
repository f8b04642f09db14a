/**
 * The tokens of a master file (RFC 1035, 5.1): comments, quotes and parentheses are resolved,
 * escapes are left as written.
 */
import { Fault, faults } from './faults.ts'

export interface Token {
  /** Escapes as written; of a quoted one what stands between the marks. */
  readonly text: string
  readonly quoted: boolean
  readonly line: number
  readonly column: number
}

/** What belongs together: one line, or several that parentheses join. */
export interface Entry {
  readonly line: number
  /** The line begins with a space, so the owner is the one before. */
  readonly startsBlank: boolean
  readonly tokens: readonly Token[]
}

const tokenEnds = new Set([' ', '\t', '\n', ';', '(', ')', '"'])

/**
 * Walks over the text once; its lines end with \\n. A fault in the writing is handed out in its
 * place, and reading goes on with the next line.
 * @yields entries that have words, in order.
 */
export function* readEntries(text: string): Generator<Entry | Fault> {
  let [at, line, lineStart] = [0, 1, 0]
  const column = (): number => at - lineStart + 1
  const place = (): { line: number; column: number } => ({ line, column: column() })
  const nextLine = (): void => {
    at++
    line++
    lineStart = at
  }
  const skipLine = (): void => {
    while (at < text.length && text[at] !== '\n') at++
  }

  while (at < text.length) {
    const first = line
    const startsBlank = text[at] === ' ' || text[at] === '\t'
    const tokens: Token[] = []
    const open: { line: number; column: number }[] = []
    let fault: Fault | undefined
    for (; at < text.length;) {
      const char = text[at] as string
      if (char === '\n') {
        nextLine()
        if (open.length === 0) break
      } else if (char === ' ' || char === '\t') at++
      else if (char === ';') skipLine()
      else if (char === '(') {
        open.push(place())
        at++
      } else if (char === ')') {
        if (open.pop() === undefined) {
          fault = new Fault(faults.closingParenthesis(), place())
          break
        }
        at++
      } else if (char === '"') {
        const token = quotedToken()
        if (token instanceof Fault) {
          fault = token
          break
        }
        tokens.push(token)
      } else tokens.push(plainToken())
    }
    if (fault) {
      skipLine()
      if (at < text.length) nextLine()
      yield fault
    } else if (open.length > 0) yield new Fault(faults.openParenthesis(), open.at(-1))
    else if (tokens.length > 0) yield { line: first, startsBlank, tokens }
  }

  function quotedToken(): Token | Fault {
    const from = place()
    at++
    const start = at
    while (at < text.length && text[at] !== '"' && text[at] !== '\n')
      at += text[at] === '\\' && text[at + 1] !== '\n' ? 2 : 1
    if (text[at] !== '"') return new Fault(faults.openQuote(), from)
    at++
    return { text: text.slice(start, at - 1), quoted: true, ...from }
  }
  function plainToken(): Token {
    const from = place()
    const start = at
    while (at < text.length) {
      const char = text[at] as string
      if (char === '\\' && at + 1 < text.length && text[at + 1] !== '\n') at += 2
      else if (tokenEnds.has(char)) break
      else at++
    }
    return { text: text.slice(start, at), quoted: false, ...from }
  }
}
