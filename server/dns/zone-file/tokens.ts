/**
 * The tokens of a master file (RFC 1035, 5.1): comments, quotes and parentheses are resolved,
 * escapes are left as written.
 */
import { Fault, faults } from './faults.ts'

export interface Token {
  /** Escapes as written; for a quoted string the text between the quotes. */
  readonly text: string
  readonly quoted: boolean
  readonly line: number
  readonly column: number
}

/** One logical line: one line, or several joined by parentheses. */
export interface Entry {
  readonly line: number
  /** The line begins with a space, so it has the previous owner. */
  readonly startsBlank: boolean
  readonly tokens: readonly Token[]
}

const tokenEnds = new Set([' ', '\t', '\n', ';', '(', ')', '"'])

/**
 * The reader's position. Fields rather than variables that a generator's closures change: the V8 of
 * Node 24.21 may lose such a change when it compiles the generator while it runs.
 */
class Cursor {
  readonly #text: string
  at = 0
  line = 1
  #lineStart = 0

  constructor(text: string) {
    this.#text = text
  }

  get char(): string | undefined {
    return this.#text[this.at]
  }
  get isAtEnd(): boolean {
    return this.at >= this.#text.length
  }
  get place(): { line: number; column: number } {
    return { line: this.line, column: this.at - this.#lineStart + 1 }
  }

  nextLine(): void {
    this.at++
    this.line++
    this.#lineStart = this.at
  }
  skipLine(): void {
    while (!this.isAtEnd && this.char !== '\n') this.at++
  }

  quotedToken(): Token | Fault {
    const text = this.#text
    const from = this.place
    this.at++
    const start = this.at
    while (!this.isAtEnd && this.char !== '"' && this.char !== '\n')
      this.at += this.char === '\\' && text[this.at + 1] !== '\n' ? 2 : 1
    if (this.char !== '"') return new Fault(faults.openQuote(), from)
    this.at++
    return { text: text.slice(start, this.at - 1), quoted: true, ...from }
  }
  plainToken(): Token {
    const text = this.#text
    const from = this.place
    const start = this.at
    for (let char = this.char; char !== undefined; char = this.char) {
      const next = text[this.at + 1]
      if (char === '\\' && next !== undefined && next !== '\n') this.at += 2
      else if (tokenEnds.has(char)) break
      else this.at++
    }
    return { text: text.slice(start, this.at), quoted: false, ...from }
  }
}

/**
 * Walks over the text once; its lines end with \\n. A syntax fault is yielded at its position, and
 * parsing goes on with the next line. @yields non-empty entries, in order.
 */
export function* readEntries(text: string): Generator<Entry | Fault> {
  const cursor = new Cursor(text)
  while (!cursor.isAtEnd) {
    const first = cursor.line
    const startsBlank = cursor.char === ' ' || cursor.char === '\t'
    const tokens: Token[] = []
    const open: { line: number; column: number }[] = []
    let fault: Fault | undefined
    for (let char = cursor.char; char !== undefined; char = cursor.char) {
      if (char === '\n') {
        cursor.nextLine()
        if (open.length === 0) break
      } else if (char === ' ' || char === '\t') cursor.at++
      else if (char === ';') cursor.skipLine()
      else if (char === '(') {
        open.push(cursor.place)
        cursor.at++
      } else if (char === ')') {
        if (open.pop() === undefined) {
          fault = new Fault(faults.closingParenthesis(), cursor.place)
          break
        }
        cursor.at++
      } else if (char === '"') {
        const token = cursor.quotedToken()
        if (token instanceof Fault) {
          fault = token
          break
        }
        tokens.push(token)
      } else tokens.push(cursor.plainToken())
    }
    if (fault) {
      cursor.skipLine()
      if (!cursor.isAtEnd) cursor.nextLine()
      yield fault
    } else if (open.length > 0) yield new Fault(faults.openParenthesis(), open.at(-1))
    else if (tokens.length > 0) yield { line: first, startsBlank, tokens }
  }
}
