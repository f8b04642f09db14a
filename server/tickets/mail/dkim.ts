/**
 * Whose signature a letter bears (DKIM, RFC 6376 and 8463): a domain whose signature holds says
 * that the letter came through its mail server, and that its From was not changed since.
 */
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'
import { getDomain } from 'tldts'

/** Looks up the TXT records of a name; undefined: no answer. */
export type AskTexts = (name: string) => Promise<readonly string[] | undefined>

/** A usual letter has one or two; each costs a lookup and a hash of the whole letter. */
const mostSignatures = 3
const longestHeader = 65_536
const fewestBits = 1024

const tagsOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(';').flatMap((tag) => {
      const at = tag.indexOf('=')
      return at < 0 ? [] : [[tag.slice(0, at).trim(), tag.slice(at + 1).trim()] as const]
    }),
  )
const nameOf = (field: string): string => field.slice(0, field.indexOf(':')).trim().toLowerCase()

/** A field as it is signed, without CRLF at its end. */
function canonicalField(field: string, isRelaxed: boolean): string {
  if (!isRelaxed) return field
  const value = field.slice(field.indexOf(':') + 1).replaceAll('\r\n', '')
  return `${nameOf(field)}:${value.replace(/[ \t]+/g, ' ').trim()}`
}

function canonicalBody(body: Buffer, isRelaxed: boolean): Buffer {
  let text = body.toString('latin1')
  if (isRelaxed) text = text.replace(/[ \t]+/g, ' ').replaceAll(' \r\n', '\r\n')
  let end = text.length
  if (isRelaxed && text.endsWith(' ')) end -= 1
  while (end >= 2 && text[end - 2] === '\r' && text[end - 1] === '\n') end -= 2
  const kept = text.slice(0, end)
  return Buffer.from(kept === '' && isRelaxed ? '' : `${kept}\r\n`, 'latin1')
}

/** The key of a record, where it is good for such a signature. */
function keyOf(record: string, algorithm: string): KeyObject | undefined {
  const tags = tagsOf(record)
  const key = tags.get('p')?.replace(/\s/g, '') ?? ''
  // A domain that only tries its signatures out says so.
  if (key === '' || tags.get('t')?.split(':').includes('y')) return undefined
  if (tags.has('h') && !tags.get('h')?.split(':').includes('sha256')) return undefined
  if (`${tags.get('k') ?? 'rsa'}-sha256` !== algorithm) return undefined
  try {
    if (algorithm === 'ed25519-sha256') {
      const x = Buffer.from(key, 'base64').toString('base64url')
      return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    }
    const found = createPublicKey({
      key: Buffer.from(key, 'base64'),
      format: 'der',
      type: 'spki',
    })
    const bits = found.asymmetricKeyDetails?.modulusLength ?? 0
    return found.asymmetricKeyType === 'rsa' && bits >= fewestBits ? found : undefined
  } catch {
    return undefined
  }
}

interface Parts {
  readonly fields: readonly string[]
  readonly body: Buffer
}
function partsOf(raw: Buffer): Parts | undefined {
  const end = raw.indexOf('\r\n\r\n')
  if (end < 0 || end > longestHeader || !isHeaderOfLines(raw)) return undefined
  const fields = raw
    .subarray(0, end)
    .toString('latin1')
    .split(/\r\n(?![ \t])/)
  return { fields, body: raw.subarray(end + 4) }
}

/**
 * Whether each line of the header ends with CRLF. With a lone CR or LF, parsers disagree about the
 * header's end: one would read the signed fields, and another one different fields.
 */
export function isHeaderOfLines(raw: Buffer): boolean {
  const end = raw.indexOf('\r\n\r\n')
  const isWhole = end >= 0 && end <= longestHeader
  const header = raw.subarray(0, isWhole ? end + 2 : longestHeader).toString('latin1')
  return !/\r(?!\n)|(?<!\r)\n/.test(isWhole ? header : header.replace(/\r$/, ''))
}

/** The signed part of the header: each name takes its lowest remaining field. */
function signedHeader(parts: Parts, own: string, names: string, isRelaxed: boolean): Buffer {
  const left = [...parts.fields].toReversed()
  const signed = names.split(':').flatMap((name) => {
    const at = left.findIndex((field) => nameOf(field) === name.trim().toLowerCase())
    return at < 0 ? [] : left.splice(at, 1).map((field) => canonicalField(field, isRelaxed))
  })
  const bare = canonicalField(own.replace(/([;:\s]b\s*=)[^;]*/, '$1'), isRelaxed)
  return Buffer.from(`${signed.map((field) => `${field}\r\n`).join('')}${bare}`, 'latin1')
}

async function holds(parts: Parts, own: string, ask: AskTexts, now: Date) {
  const tags = tagsOf(own.slice(own.indexOf(':') + 1).replace(/\r\n[ \t]*/g, ''))
  const tag = (name: string): string => tags.get(name) ?? ''
  const [algorithm, domain, selector] = [tag('a'), tag('d').toLowerCase(), tag('s')]
  if (!/^(?:rsa|ed25519)-sha256$/.test(algorithm) || tag('v') !== '1') return undefined
  if (!/^[a-z0-9.-]{1,253}$/.test(domain) || !/^[A-Za-z0-9._-]{1,100}$/.test(selector))
    return undefined
  // With l= somebody else may have added the end; From must be signed.
  const names = tag('h').toLowerCase()
  if (tags.has('l') || !names.split(':').some((name) => name.trim() === 'from')) return undefined
  if (tags.has('x') && !(Number(tag('x')) * 1000 > now.getTime())) return undefined
  const [ofHeader, ofBody = 'simple'] = (tag('c') || 'simple/simple').split('/')
  const body = canonicalBody(parts.body, ofBody === 'relaxed')
  const digest = createHash('sha256').update(body).digest('base64')
  if (digest !== tag('bh').replace(/\s/g, '')) return undefined
  const data = signedHeader(parts, own, names, ofHeader === 'relaxed')
  const [record = ''] = (await ask(`${selector}._domainkey.${domain}`)) ?? []
  const key = keyOf(record, algorithm)
  if (!key) return undefined
  const signature = Buffer.from(tag('b').replace(/\s/g, ''), 'base64')
  const isGood =
    algorithm === 'rsa-sha256'
      ? verify('sha256', data, key, signature)
      : verify(null, createHash('sha256').update(data).digest(), key, signature)
  return isGood ? domain : undefined
}

/** Domains whose signature on a letter of one From holds. Lines of the letter end with CRLF. */
export async function signersOf(raw: Buffer, ask: AskTexts, now: Date): Promise<string[]> {
  const parts = partsOf(raw)
  if (!parts) return []
  // Of two From fields, one would be signed and the other shown.
  if (parts.fields.filter((field) => nameOf(field) === 'from').length !== 1) return []
  const own = parts.fields.filter((field) => nameOf(field) === 'dkim-signature')
  const found: string[] = []
  for (const field of own.slice(0, mostSignatures)) {
    const domain = await holds(parts, field, ask, now)
    if (domain !== undefined) found.push(domain)
  }
  return found
}

/** DMARC's alignment: the domain of the address, or another one of the same registered domain. */
export function isAligned(signer: string, address: string): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase()
  if (signer === domain) return true
  const registered = getDomain(domain, { allowPrivateDomains: true })
  return registered !== null && registered === getDomain(signer, { allowPrivateDomains: true })
}
