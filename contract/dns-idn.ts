/**
 * Unicode names inside A-labels (RFC 5890), without tables: the IDNA code of the browser or the
 * server checks what is decoded here.
 */

const [base, tMin, tMax, skew, damp] = [36, 1, 26, 38, 700]

/** Adapts the bias (RFC 3492, 6.1). */
function adapt(delta: number, size: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? damp : 2))
  rest += Math.floor(rest / size)
  let bias = 0
  for (; rest > ((base - tMin) * tMax) / 2; bias += base) rest = Math.floor(rest / (base - tMin))
  return bias + Math.floor(((base - tMin + 1) * rest) / (rest + skew))
}

/** Decodes the text after `xn--` (RFC 3492, 6.2); undefined when it is no valid Punycode. */
function fromPunycode(text: string): string | undefined {
  const cut = Math.max(text.lastIndexOf('-'), 0)
  const points = Array.from(text.slice(0, cut), (char) => char.charCodeAt(0))
  let [point, index, bias] = [128, 0, 72]
  for (let at = cut > 0 ? cut + 1 : 0; at < text.length;) {
    const before = index
    let weight = 1
    for (let k = base; ; k += base) {
      const char = text[at++] ?? ''
      let digit
      if (/[a-z]/.test(char)) digit = char.charCodeAt(0) - 97
      else if (/\d/.test(char)) digit = Number(char) + 26
      else digit = base

      index += digit * weight
      if (digit === base || index > 0x7fffffff) return undefined
      const threshold = Math.min(Math.max(k - bias, tMin), tMax)
      if (digit < threshold) break
      weight *= base - threshold
    }
    const size = points.length + 1
    bias = adapt(index - before, size, before === 0)
    point += Math.floor(index / size)
    index %= size
    if (point > 0x10ffff) return undefined
    points.splice(index++, 0, point)
  }
  return String.fromCodePoint(...points)
}

/**
 * The A-label of one Unicode label; undefined where IDNA (UTS 46, as browsers implement it) rejects
 * the label.
 */
export const labelToAscii = (label: string): string | undefined =>
  URL.canParse(`http://${label}.example`)
    ? new URL(`http://${label}.example`).hostname.slice(0, -'.example'.length)
    : undefined

/**
 * The label in Unicode. Undefined for an A-label that is no valid Punycode, or whose Unicode form
 * encodes to another A-label (RFC 5891, 5.4).
 */
function unicodeLabel(label: string): string | undefined {
  if (!label.startsWith('xn--')) return label
  const decoded = fromPunycode(label.slice(4))
  return decoded !== undefined && /[^\0-\x7f]/.test(decoded) && labelToAscii(decoded) === label
    ? decoded
    : undefined
}

/** Whether a label of the name (lower case) looks like an A-label but is not valid. */
export const hasBrokenLabel = (name: string): boolean =>
  name.split('.').some((label) => unicodeLabel(label) === undefined)

/** The name (lower case) in Unicode. A label that is no A-label stays as it is. */
export const unicodeName = (name: string): string =>
  name.includes('xn--')
    ? name
        .split('.')
        .map((label) => unicodeLabel(label) ?? label)
        .join('.')
    : name
