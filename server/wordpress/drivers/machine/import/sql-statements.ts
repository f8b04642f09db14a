/**
 * Reads the statements of a dump of MySQL or MariaDB as they come, and the values of its INSERTs.
 * Text is read as Latin-1, a character for each byte, so that no byte of a value is lost.
 */
import { PackageFault } from './package-fault.ts'

/**
 * No genuine statement is longer: MariaDB's client has a max_allowed_packet of 64 MB by default.
 */
const longestStatement = 96 * 1_048_576

/** Characters that may end a run of plain text: quotes, comments, the end of the statement. */
const special = /['"`;#/-]/g

/**
 * The position after the closing quote; -1 while that has not come yet. `isWhole`: nothing follows
 * the text, so a quote at its end is not half of a doubled one.
 */
function afterQuoted(text: string, from: number, quote: string, isWhole = false): number {
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at]
    if (char === '\\' && quote !== '`') at++
    else if (char === quote) {
      if (at + 1 >= text.length) return isWhole ? at + 1 : -1
      if (text[at + 1] !== quote) return at + 1
      at++
    }
  }
  return -1
}

/** Cuts a dump into statements without comments; conditional comments are dropped, too. */
export class StatementReader {
  #text = ''
  /** How far `#text` has been scanned for the end of its first statement. */
  #at = 0
  /** The statement's pieces so far, without comments. */
  #pieces: string[] = []
  #from = 0
  #delimiter = ';'
  /**
   * What the statements that were left out would have made, in a word: those in conditional
   * comments, and routines.
   */
  readonly conditional = new Set<string>()

  #cut(until: number): string {
    this.#pieces.push(this.#text.slice(this.#from, until))
    const statement = this.#pieces.join('').trim()
    this.#pieces = []
    return statement
  }

  #skip(from: number, to: number): void {
    this.#pieces.push(this.#text.slice(this.#from, from), ' ')
    this.#from = to
    this.#at = to
  }

  /** The statements that are complete by now. `isLast`: nothing follows. */
  *push(chunk: string, isLast = false): Generator<string> {
    this.#text = this.#text.slice(this.#from) + chunk + (isLast ? '\n\n\n' : '')
    this.#at -= this.#from
    this.#from = 0
    if (this.#text.length > longestStatement) throw new PackageFault('statement_too_long')
    for (;;) {
      const command = this.#delimiterCommand()
      if (command === 'wait') return
      if (this.#delimiter !== ';') {
        // A routine or a trigger, which is not run.
        const end = this.#text.indexOf(this.#delimiter, this.#at)
        if (end < 0) {
          this.#at = Math.max(this.#from, this.#text.length - 200)
          return
        }
        this.#from = end + this.#delimiter.length
        this.#at = this.#from
        this.#pieces = []
        this.conditional.add('routine')
        continue
      }
      special.lastIndex = this.#at
      const found = special.exec(this.#text)
      if (!found) {
        this.#at = this.#text.length
        if (isLast) yield* this.#last()
        return
      }
      const { index } = found
      this.#at = index
      const after = this.#over(found[0], index)
      if (after === 'wait') {
        if (isLast) yield* this.#last()
        return
      }
      if (found[0] !== ';') continue
      const statement = this.#cut(index)
      this.#from = index + 1
      this.#at = this.#from
      if (statement !== '') yield statement
    }
  }

  *#last(): Generator<string> {
    const statement = this.#cut(this.#text.length)
    this.#from = this.#text.length
    if (statement !== '') yield statement
  }

  /** Handles `DELIMITER ;;`, a command of the client, on a line of its own. */
  #delimiterCommand(): 'wait' | undefined {
    if (this.#pieces.join('').trim() !== '') return undefined
    const begin = /\S/.exec(this.#text.slice(this.#from, this.#from + 4_096))
    if (!begin) return undefined
    const line = this.#text.slice(this.#from + begin.index, this.#from + begin.index + 64)
    if (!/^DELIMITER\b/i.test(line)) return undefined
    const end = line.indexOf('\n')
    if (end < 0) return line.length < 64 ? 'wait' : undefined
    this.#delimiter = line.slice('DELIMITER'.length, end).trim() || ';'
    this.#from += begin.index + end + 1
    this.#at = this.#from
    return undefined
  }

  /** Moves past a quoted text or a comment. */
  #over(char: string, index: number): 'wait' | undefined {
    const text = this.#text
    if (char === ';') return undefined
    if (char === "'" || char === '"' || char === '`') {
      const end = afterQuoted(text, index, char)
      if (end < 0) return 'wait'
      this.#at = end
      return undefined
    }
    if (index + 2 >= text.length) return 'wait'
    if (char === '#' || (char === '-' && text[index + 1] === '-' && /\s/.test(text[index + 2]!))) {
      const end = text.indexOf('\n', index)
      if (end < 0) return 'wait'
      this.#skip(index, end)
      return undefined
    }
    if (char === '/' && text[index + 1] === '*') {
      const end = text.indexOf('*/', index + 2)
      if (end < 0) return 'wait'
      const made = /\b(TRIGGER|VIEW|PROCEDURE|FUNCTION|EVENT)\b/i.exec(text.slice(index, end))
      if (text[index + 2] === '!' && made) this.conditional.add(made[1]!.toLowerCase())
      this.#skip(index, end + 2)
      return undefined
    }
    this.#at = index + 1
    return undefined
  }
}

/** Pieces between commas that stand in no bracket and no quotes. */
export function splitList(text: string): string[] {
  const out: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === "'" || char === '"' || char === '`') {
      const end = afterQuoted(text, at, char, true)
      at = (end < 0 ? text.length : end) - 1
    } else if (char === '(') depth++
    else if (char === ')') depth--
    else if (char === ',' && depth === 0) {
      out.push(text.slice(from, at).trim())
      from = at + 1
    }
  }
  out.push(text.slice(from).trim())
  return out
}

/** A value: text (also for a number), bytes that are not text, or null. */
export type SqlValue = string | Buffer | null

const escaped: Readonly<Record<string, string>> = {
  '0': '\0',
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  Z: '\x1a',
}
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
function valueOf(bytes: Buffer): string | Buffer {
  try {
    return utf8.decode(bytes)
  } catch {
    return bytes
  }
}

function unquoted(text: string, from: number, to: number): string | Buffer {
  const quote = text[from]!
  const raw = text.slice(from + 1, to - 1)
  const plain =
    raw.includes('\\') || raw.includes(quote)
      ? raw.replace(/\\([\s\S])|''|""/g, (all, char?: string) => {
          if (char === undefined) return all[0] === quote ? quote : all
          // LIKE's own escapes keep their backslash (MySQL 8 reference, 11.1.1).
          if (char === '%' || char === '_') return all
          return escaped[char] ?? char
        })
      : raw
  return valueOf(Buffer.from(plain, 'latin1'))
}

const number = /[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?/iy
const hexNumber = /0x([0-9a-f]*)/iy
const hexText = /x'([0-9a-f]*)'/iy
const bits = /b'([01]*)'|0b([01]+)/iy
const word = /(?:NULL|DEFAULT|TRUE|FALSE)\b/iy
const introducer = /_[a-z0-9]+\s*(?=['"x0])/iy
const blank = /\s*/y

function sticky(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/**
 * The position of the reader of rows. It is a field, and not a variable that closures of a
 * generator change: the V8 of Node 24.21 forgets such a change when it compiles the generator while
 * it runs (Maglev, with inlining), and the rows after it would be lost.
 */
class Cursor {
  readonly #text: string
  at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.at = at
  }

  skipBlank(): void {
    this.at += sticky(blank, this.#text, this.at)![0].length
  }

  /** The next literal; undefined where there is none. */
  value(): SqlValue | undefined {
    const text = this.#text
    const mark = sticky(introducer, text, this.at)
    if (mark) this.at += mark[0].length
    const char = text[this.at]
    if (char === "'" || char === '"') {
      const end = afterQuoted(text, this.at, char, true)
      if (end < 0) return undefined
      const read = unquoted(text, this.at, end)
      this.at = end
      return read
    }
    const hex = sticky(hexNumber, text, this.at) ?? sticky(hexText, text, this.at)
    if (hex) {
      this.at += hex[0].length
      return valueOf(Buffer.from(hex[1]!.length % 2 ? `0${hex[1]}` : hex[1]!, 'hex'))
    }
    const bit = sticky(bits, text, this.at)
    if (bit) {
      this.at += bit[0].length
      return String(BigInt(`0b${(bit[1] ?? bit[2]) || '0'}`))
    }
    const named = sticky(word, text, this.at)
    if (named) {
      this.at += named[0].length
      if (/^(?:true|false)$/i.test(named[0])) return /^t/i.test(named[0]) ? '1' : '0'
      return null
    }
    const digits = sticky(number, text, this.at)
    if (!digits) return undefined
    this.at += digits[0].length
    return digits[0]
  }
}

/** What may follow the last row. */
const afterRows = /\s*(?:(?:ON\s+DUPLICATE|AS)\b|$)/iy

/**
 * The rows of `(…),(…)` from `from` on. A row with anything but literals is undefined, and so is a
 * rest that cannot be read.
 */
export function* rowsOf(text: string, from: number): Generator<SqlValue[] | undefined> {
  const cursor = new Cursor(text, from)
  for (cursor.skipBlank(); text[cursor.at] === '('; cursor.skipBlank()) {
    cursor.at++
    const row: SqlValue[] = []
    let isSound = true
    for (;;) {
      cursor.skipBlank()
      const read = cursor.value()
      cursor.skipBlank()
      const next = text[cursor.at]
      if (read === undefined || (next !== ',' && next !== ')')) {
        isSound = false
        break
      }
      row.push(read)
      cursor.at++
      if (next === ')') break
    }
    if (!isSound) {
      yield undefined
      return
    }
    yield row
    cursor.skipBlank()
    if (text[cursor.at] !== ',') break
    cursor.at++
  }
  if (!sticky(afterRows, text, cursor.at)) yield undefined
}
