/** Parses a record's data by its type. */
import { isIPv4, isIPv6 } from 'node:net'
import { Fault, faults, type Sentence } from './faults.ts'
import { absoluteName, unescapeBytes } from './names.ts'
import type { RecordData, StartOfAuthority } from './record.ts'
import { secondsOf } from './times.ts'
import type { Token } from './tokens.ts'

const what = {
  address: { en: 'The address', vi: 'địa chỉ' },
  target: { en: 'The target name', vi: 'tên đích' },
  priority: { en: 'The priority', vi: 'độ ưu tiên' },
  text: { en: 'The text', vi: 'nội dung' },
  primary: { en: 'The primary name server', vi: 'nameserver chính' },
  mailbox: { en: 'The mailbox', vi: 'hộp thư' },
  serial: { en: 'The serial number', vi: 'số sê-ri' },
  refresh: { en: 'The refresh time', vi: 'thời gian làm mới' },
  retry: { en: 'The retry time', vi: 'thời gian thử lại' },
  expire: { en: 'The expiry time', vi: 'thời gian hết hạn' },
  minimum: { en: 'The minimum time', vi: 'thời gian tối thiểu' },
} as const satisfies Record<string, Sentence>

const maxUint32 = 4_294_967_295
const textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The tokens after the type, read in order; every fault knows its token. */
class TokenReader {
  readonly #tokens: readonly Token[]
  #next = 0
  #last: { line: number; column: number }

  constructor(tokens: readonly Token[], typeToken: Token) {
    this.#tokens = tokens
    this.#last = typeToken
  }
  get count(): number {
    return this.#tokens.length - this.#next
  }
  /** Runs `read` on the next word. */
  take<T>(meaning: Sentence, read: (text: string) => T, mayBeQuoted = false): T {
    const token = this.#tokens[this.#next]
    if (!token) throw new Fault(faults.missing(meaning), this.#last)
    this.#next++
    this.#last = token
    if (token.quoted && !mayBeQuoted) throw new Fault(faults.quotedHere(), token)
    return at(token, () => read(token.text))
  }
  end(): void {
    const token = this.#tokens[this.#next]
    if (token) throw new Fault(faults.tooMuch(token.text), token)
  }
}

/** Adds the word's position to a fault. */
export function at<T>(token: Token, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof Fault && !error.at) throw new Fault(error.sentence, token)
    throw error
  }
}

function whole(text: string, most: number): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) > most) throw new Fault(faults.number(text, most))
  return Number(text)
}

function ipv4(text: string): string {
  if (!isIPv4(text)) throw new Fault(faults.ipv4(text))
  return text
}

function ipv6(text: string): string {
  if (!isIPv6(text) || text.includes('%')) throw new Fault(faults.ipv6(text))
  return new URL(`http://[${text}]`).hostname.slice(1, -1)
}

function textOf(words: TokenReader): string {
  const strings: Buffer[] = []
  do {
    strings.push(
      words.take(
        what.text,
        (written) => {
          const bytes = unescapeBytes(written)
          if (bytes.length > 255) throw new Fault(faults.longString(bytes.length))
          return bytes
        },
        true,
      ),
    )
  } while (words.count > 0)
  // a length byte goes before each string
  if (strings.reduce((sum, { length }) => sum + length + 1, 0) > 65_535)
    throw new Fault(faults.longText())
  try {
    return textDecoder.decode(Buffer.concat(strings))
  } catch {
    throw new Fault(faults.notUtf8())
  }
}

/** `example.com. hostmaster.example.com. 1 7200 900 1209600 300`, on one line. */
const soaText = (soa: StartOfAuthority): string =>
  `${soa.primary}. ${soa.mailbox}. ${soa.serial} ${soa.refreshSeconds} ${soa.retrySeconds} ` +
  `${soa.expireSeconds} ${soa.minimumSeconds}`

/**
 * Parses the tokens after the type.
 * @throws Fault if they do not fit the type
 */
export function readData(
  type: RecordData['type'],
  typeToken: Token,
  tokens: readonly Token[],
  origin: string,
): RecordData {
  const words = new TokenReader(tokens, typeToken)
  if (tokens[0]?.text === '\\#' && !tokens[0].quoted) throw new Fault(faults.generic(), tokens[0])
  const name = (meaning: Sentence): string =>
    words.take(meaning, (text) => absoluteName(text, origin))
  const time = (meaning: Sentence): number =>
    words.take(meaning, (text) => secondsOf(text, maxUint32))
  const data = ((): RecordData => {
    switch (type) {
      case 'A':
        return { type, data: words.take(what.address, ipv4) }
      case 'AAAA':
        return { type, data: words.take(what.address, ipv6) }
      case 'CNAME':
      case 'NS':
        return { type, data: name(what.target) }
      case 'MX': {
        const priority = words.take(what.priority, (text) => whole(text, 65_535))
        return { type, priority, data: name(what.target) }
      }
      case 'TXT':
        return { type, data: textOf(words) }
      case 'SOA': {
        const soa: StartOfAuthority = {
          primary: name(what.primary),
          mailbox: name(what.mailbox),
          serial: words.take(what.serial, (text) => whole(text, maxUint32)),
          refreshSeconds: time(what.refresh),
          retrySeconds: time(what.retry),
          expireSeconds: time(what.expire),
          minimumSeconds: time(what.minimum),
        }
        return { type, data: soaText(soa), soa }
      }
    }
  })()
  words.end()
  return data
}
