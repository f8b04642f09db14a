/** Reads the output of PHP's serialize() (php.net, serialize), to be shown as a tree. */

export type PhpValue =
  | { readonly kind: 'leaf'; readonly text: string }
  | {
      readonly kind: 'list'
      /** `array`, or the name of a class. */
      readonly name: string
      readonly members: readonly { readonly key: string; readonly value: PhpValue }[]
    }

/** Limits of depth and number beyond which nobody reads. */
const deepest = 50
const mostMembers = 5_000

class Reader {
  #at = 0
  #members = 0
  readonly #bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }
  get isOver(): boolean {
    return this.#at === this.#bytes.length
  }
  #fail(): never {
    throw new SyntaxError('not serialized')
  }
  #text(from: number, to: number): string {
    return new TextDecoder().decode(this.#bytes.subarray(from, to))
  }
  #until(sign: string): string {
    const end = this.#bytes.indexOf(sign.charCodeAt(0), this.#at)
    if (end < 0 || end - this.#at > 60) this.#fail()
    const text = this.#text(this.#at, end)
    this.#at = end + 1
    return text
  }
  #take(text: string): void {
    if (this.#text(this.#at, this.#at + text.length) !== text) this.#fail()
    this.#at += text.length
  }
  #count(sign: string): number {
    const text = this.#until(sign)
    return /^\d{1,9}$/.test(text) ? Number(text) : this.#fail()
  }
  /** Lengths count bytes, not characters. */
  #quoted(): string {
    const length = this.#count(':')
    this.#take('"')
    const end = this.#at + length
    if (end > this.#bytes.length) this.#fail()
    const text = this.#text(this.#at, end)
    this.#at = end
    this.#take('"')
    return text
  }
  value(depth = 0): PhpValue {
    if (depth > deepest) this.#fail()
    const kind = this.#text(this.#at, this.#at + 2)
    this.#at += 2
    switch (kind) {
      case 'N;':
        return { kind: 'leaf', text: 'null' }
      case 'b:':
        return { kind: 'leaf', text: this.#until(';') === '1' ? 'true' : 'false' }
      case 'i:':
      case 'd:':
      case 'R:':
      case 'r:':
        return { kind: 'leaf', text: this.#until(';') }
      case 's:': {
        const text = this.#quoted()
        this.#take(';')
        return { kind: 'leaf', text: JSON.stringify(text) }
      }
      case 'a:':
        return this.#list('array', depth)
      case 'O:': {
        const name = this.#quoted()
        this.#take(':')
        return this.#list(name, depth)
      }
      default:
        return this.#fail()
    }
  }
  #list(name: string, depth: number): PhpValue {
    const count = this.#count(':')
    this.#take('{')
    const members = []
    for (let index = 0; index < count; index++) {
      if (++this.#members > mostMembers) this.#fail()
      const key = this.value(depth + 1)
      if (key.kind !== 'leaf') this.#fail()
      // The key of a non-public property has its class's name (or an asterisk) before it, between
      // NUL bytes.
      members.push({
        key: key.text.replace(/^"(?:\\u0000.*?\\u0000)?(.*)"$/s, '$1'),
        value: this.value(depth + 1),
      })
    }
    this.#take('}')
    return { kind: 'list', name, members }
  }
}

/** Undefined where the text is no serialized array or object. */
export function phpValueOf(text: string): PhpValue | undefined {
  if (!/^[aO]:\d/.test(text)) return undefined
  try {
    const reader = new Reader(new TextEncoder().encode(text))
    const value = reader.value()
    return reader.isOver ? value : undefined
  } catch {
    return undefined
  }
}
