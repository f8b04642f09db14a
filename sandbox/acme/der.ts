/** The part of DER (X.690) that an authority needs: writing certificates, reading requests. */

export interface Element {
  readonly tag: number
  readonly content: Buffer
  readonly whole: Buffer
}

export function write(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const bytes: number[] = []
  for (let left = content.length; left > 0; left >>>= 8) bytes.unshift(left & 0xff)
  const head = content.length < 0x80 ? [content.length] : [0x80 | bytes.length, ...bytes]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}
export const sequence = (...parts: readonly Uint8Array[]): Buffer => write(0x30, ...parts)
export const set = (...parts: readonly Uint8Array[]): Buffer => write(0x31, ...parts)
export const octets = (bytes: Uint8Array): Buffer => write(0x04, bytes)
export const bits = (bytes: Uint8Array, unused = 0): Buffer => write(0x03, Buffer.of(unused), bytes)
export const text = (value: string): Buffer => write(0x0c, Buffer.from(value))
export const yes = write(0x01, Buffer.of(0xff))

/** An integer of 0 or more, from its bytes. */
export const integer = (bytes: Uint8Array): Buffer =>
  write(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.of(0) : Buffer.alloc(0), bytes)

/** UTCTime until 2049, as RFC 5280, 4.1.2.5 asks for. */
export function time(date: Date): Buffer {
  const stamp = `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
  return date.getUTCFullYear() < 2050
    ? write(0x17, Buffer.from(stamp.slice(2)))
    : write(0x18, Buffer.from(stamp))
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const groups: number[] = []
    let left = part
    do {
      groups.unshift((left & 0x7f) | (groups.length > 0 ? 0x80 : 0))
      left = Math.floor(left / 128)
    } while (left > 0)
    bytes.push(...groups)
  }
  return write(0x06, Buffer.from(bytes))
}

/** The sequence of elements in the bytes. Throws for invalid DER. */
export function read(bytes: Uint8Array): Element[] {
  const all = Buffer.from(bytes)
  const found: Element[] = []
  let at = 0
  while (at < all.length) {
    let length = all.readUInt8(at + 1)
    let begin = at + 2
    if (length >= 0x80) {
      const size = length - 0x80
      if (size < 1 || size > 4) throw new Error('no DER')
      length = all.readUIntBE(begin, size)
      begin += size
    }
    if (begin + length > all.length) throw new Error('no DER')
    found.push({
      tag: all.readUInt8(at),
      content: all.subarray(begin, begin + length),
      whole: all.subarray(at, begin + length),
    })
    at = begin + length
  }
  return found
}
