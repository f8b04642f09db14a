/**
 * The part of DER (X.690) that is needed to write a certificate request and to find a certificate's
 * extensions. Node reads X.509 and writes none.
 */

/** One element: its tag, its content, and its whole encoding. */
export interface Element {
  readonly tag: number
  readonly content: Buffer
  readonly whole: Buffer
}

export const tags = {
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const

export function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content])
  const size = Math.ceil(Math.log2(length + 1) / 8)
  const head = Buffer.alloc(2 + size)
  head[0] = tag
  head[1] = 0x80 | size
  head.writeUIntBE(length, 2, size)
  return Buffer.concat([head, content])
}
export const sequence = (...parts: readonly Uint8Array[]): Buffer =>
  element(tags.sequence, ...parts)

/** An object identifier in its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes: number[] = [first * 40 + second]
  for (const part of rest) {
    const groups = [part & 0x7f]
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return element(tags.oid, Buffer.from(bytes))
}

/** The consecutive elements. Throws if a length exceeds the end. */
export function elementsOf(bytes: Uint8Array): Element[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found: Element[] = []
  for (let at = 0; at < all.length;) {
    const tag = all.readUInt8(at)
    let length = all.readUInt8(at + 1)
    let begin = at + 2
    if (length >= 0x80) {
      const size = length & 0x7f
      if (size === 0 || size > 4) throw new Error('a length in DER that is none')
      length = all.readUIntBE(begin, size)
      begin += size
    }
    const end = begin + length
    if (end > all.length) throw new Error('DER that breaks off')
    found.push({ tag, content: all.subarray(begin, end), whole: all.subarray(at, end) })
    at = end
  }
  return found
}
