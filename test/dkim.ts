/** Checks a letter's DKIM signature (RFC 6376, rsa-sha256, relaxed/relaxed) with a record's key. */
import { createHash, createPublicKey, verify } from 'node:crypto'

const relaxedLine = (line: string): string => line.replace(/[ \t]+/g, ' ').replace(/ +$/, '')
const relaxedField = (field: string): string => {
  const at = field.indexOf(':')
  const value = field.slice(at + 1).replaceAll('\r\n', '')
  return `${field.slice(0, at).trim().toLowerCase()}:${relaxedLine(value).trim()}`
}
const tagsOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(';').flatMap((tag) => {
      const at = tag.indexOf('=')
      return at < 0 ? [] : [[tag.slice(0, at).trim(), tag.slice(at + 1).trim()] as const]
    }),
  )

export interface Signature {
  readonly domain: string
  readonly selector: string
}

/**
 * The domain of a valid signature; undefined where there is none or it is invalid.
 * @param record asked for the texts at `<selector>._domainkey.<domain>`
 */
export async function signatureOf(
  raw: Buffer,
  record: (name: string) => Promise<readonly string[]>,
): Promise<Signature | undefined> {
  const text = raw.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  const fields = text.slice(0, end).split(/\r\n(?![ \t])/)
  const own = fields.find((field) => /^dkim-signature:/i.test(field))
  if (own === undefined) return undefined
  const tags = tagsOf(own.slice(own.indexOf(':') + 1).replace(/\r\n/g, ''))
  const [domain = '', selector = ''] = [tags.get('d'), tags.get('s')]
  if (tags.get('a') !== 'rsa-sha256' || tags.get('c') !== 'relaxed/relaxed') return undefined

  const lines = text
    .slice(end + 4)
    .split('\r\n')
    .map(relaxedLine)
  while (lines.at(-1) === '') lines.pop()
  const body = lines.length === 0 ? '' : `${lines.join('\r\n')}\r\n`
  const digest = createHash('sha256').update(Buffer.from(body, 'latin1')).digest('base64')
  if (digest !== tags.get('bh')?.replace(/\s/g, '')) return undefined

  const left = [...fields].toReversed()
  const signed = (tags.get('h') ?? '').split(':').flatMap((name) => {
    const at = left.findIndex((field) =>
      field.toLowerCase().startsWith(`${name.trim().toLowerCase()}:`),
    )
    return at < 0 ? [] : left.splice(at, 1).map(relaxedField)
  })
  const bare = relaxedField(own.replace(/([;\s]b=)[^;]*/, '$1'))
  const data = `${signed.map((field) => `${field}\r\n`).join('')}${bare}`
  const [found = ''] = await record(`${selector}._domainkey.${domain}`)
  const key = tagsOf(found).get('p')?.replace(/\s/g, '')
  if (!key) return undefined
  const holds = verify(
    'sha256',
    Buffer.from(data, 'latin1'),
    createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' }),
    Buffer.from((tags.get('b') ?? '').replace(/\s/g, ''), 'base64'),
  )
  return holds ? { domain, selector } : undefined
}
