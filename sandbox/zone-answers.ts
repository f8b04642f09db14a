/**
 * The answers of an authoritative name server for its zones (RFC 1034, 4.3.2; RFC 4592 for
 * wildcards).
 */
import type { Answer, Question } from 'dns-packet'
import type { NameServerAnswer } from './name-server.ts'

/** Names are in lower case, without a dot at the end. */
export interface ServedZone {
  readonly name: string
  /** Includes the SOA record. */
  readonly records: readonly Answer[]
}

const longestChain = 8
const isWithin = (name: string, zone: string): boolean => name === zone || name.endsWith(`.${zone}`)

export function answerFrom(zones: Iterable<ServedZone>, question: Question): NameServerAnswer {
  const { name, type } = question
  const zone = [...zones]
    .filter((one) => isWithin(name, one.name))
    .toSorted((a, b) => b.name.length - a.name.length)[0]
  if (!zone || type === 'AXFR') return { rcode: 'REFUSED' }
  const cut = zone.records.find(
    (record) => record.type === 'NS' && record.name !== zone.name && isWithin(name, record.name),
  )
  if (cut) {
    const authorities = zone.records.filter(
      (record) => record.type === 'NS' && record.name === cut.name,
    )
    const targets = new Set(authorities.map((record) => ('data' in record ? record.data : '')))
    const isGlue = (record: Answer): boolean =>
      (record.type === 'A' || record.type === 'AAAA') && targets.has(record.name)
    // The set itself belongs to the child zone, so the answer is a referral.
    return { rcode: 'NOERROR', authorities, additionals: zone.records.filter(isGlue) }
  }
  const soa = zone.records.filter((record) => record.type === 'SOA')
  const answers: Answer[] = []
  let wanted = name
  for (let step = 0; step < longestChain; step++) {
    const here = recordsAt(zone, wanted)
    if (here === undefined)
      return { rcode: 'NXDOMAIN', isAuthoritative: true, answers, authorities: soa }
    const found = here.filter((record) => record.type === type)
    const alias = here.find((record) => record.type === 'CNAME')
    if (found.length > 0 || !alias || alias.type !== 'CNAME') {
      answers.push(...found)
      return {
        rcode: 'NOERROR',
        isAuthoritative: true,
        answers,
        authorities: found.length === 0 ? soa : [],
      }
    }
    answers.push(alias)
    wanted = alias.data
    if (!isWithin(wanted, zone.name)) break
  }
  return { rcode: 'NOERROR', isAuthoritative: true, answers }
}

/** Undefined: the name does not exist. Empty: it exists only because names below it do. */
function recordsAt({ records }: ServedZone, name: string): Answer[] | undefined {
  const here = records.filter((record) => record.name === name)
  if (here.length > 0) return here
  if (records.some((record) => record.name.endsWith(`.${name}`))) return []
  const parts = name.split('.')
  for (let at = 1; at < parts.length; at++) {
    const encloser = parts.slice(at).join('.')
    const wild = records.filter((record) => record.name === `*.${encloser}`)
    if (wild.length > 0) return wild.map((record) => ({ ...record, name }))
    if (records.some((record) => isWithin(record.name, encloser))) return undefined
  }
  return undefined
}

/** The strings of a TXT record in presentation form: the bytes of each quoted string. */
export const stringsOf = (content: string): Buffer[] =>
  [...content.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(([, inside = '']) =>
    Buffer.concat(
      [...inside.matchAll(/\\(\d{3})|\\(.)|([^\\]+)/gs)].map(([, code, escaped, plain]) =>
        code === undefined ? Buffer.from(escaped ?? plain ?? '') : Buffer.of(Number(code)),
      ),
    ),
  )
