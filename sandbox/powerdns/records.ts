/** Which record sets PowerDNS accepts, and how its name server answers with them. */
import { isIPv4, isIPv6 } from 'node:net'
import type { Answer } from 'dns-packet'
import { stringsOf } from '../zone-answers.ts'

export interface Rrset {
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly records: readonly { readonly content: string; readonly disabled?: boolean }[]
}

const hostName = /^(?:\*\.)?(?:[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+$/
const strings = /^"((?:[^"\\]|\\.)*)"(?: "((?:[^"\\]|\\.)*)")*$/s
const number = (text: string | undefined, most: number): boolean =>
  text !== undefined && /^\d{1,10}$/.test(text) && Number(text) <= most

/** PowerDNS's error message; undefined for a valid set. */
export function faultOf(set: Rrset, zone: string): string | undefined {
  const { name, type, ttl, records } = set
  if (!name.endsWith('.')) return `DNS Name '${name}' is not canonical`
  if (name !== zone && !name.endsWith(`.${zone}`))
    return `RRset ${name} IN ${type}: Name is out of zone`
  if (!hostName.test(name)) return `RRset ${name} IN ${type}: Unable to parse DNS Name '${name}'`
  if (!Number.isInteger(ttl)) return "Key 'ttl' is not an Integer"
  const contents = records.map(({ content }) => content)
  if (new Set(contents).size < contents.length)
    return `Duplicate record in RRset ${name} IN ${type}`
  if ((type === 'CNAME' || type === 'SOA') && contents.length > 1)
    return `RRset ${name} IN ${type} has more than one record`
  const bad = contents.find((content) => !isContent(type, content))
  return bad === undefined ? undefined : `Record ${name}/${type} '${bad}': Not in expected format`
}

function isContent(type: string, content: string): boolean {
  const words = content.split(' ')
  switch (type) {
    case 'A':
      return isIPv4(content)
    case 'AAAA':
      return isIPv6(content)
    case 'CNAME':
    case 'NS':
      return hostName.test(content)
    case 'MX':
      return (
        words.length === 2 &&
        number(words[0], 65_535) &&
        (words[1] === '.' || hostName.test(words[1] ?? ''))
      )
    case 'TXT':
      return strings.test(content)
    case 'SOA':
      return (
        words.length === 7 &&
        words.slice(0, 2).every((word) => hostName.test(word)) &&
        words.slice(2).every((word) => number(word, 4_294_967_295))
      )
    default:
      return false
  }
}

const bare = (name: string): string => name.replace(/\.$/, '')

/** The records of a set in wire form. */
export function answersOf({ name: owner, type, ttl, records }: Rrset): Answer[] {
  const name = bare(owner)
  return records.map(({ content }): Answer => {
    const [first = '', second = '', ...rest] = content.split(' ')
    switch (type) {
      case 'MX':
        return {
          type,
          name,
          ttl,
          data: { preference: Number(first), exchange: second === '.' ? '.' : bare(second) },
        }
      case 'TXT':
        return { type, name, ttl, data: stringsOf(content) }
      case 'SOA': {
        const [serial = 0, refresh = 0, retry = 0, expire = 0, minimum = 0] = rest.map(Number)
        return {
          type,
          name,
          ttl,
          data: {
            mname: bare(first),
            rname: bare(second),
            serial,
            refresh,
            retry,
            expire,
            minimum,
          },
        }
      }
      case 'A':
      case 'AAAA':
        return { type, name, ttl, data: content }
      default:
        return { type: type === 'NS' ? 'NS' : 'CNAME', name, ttl, data: bare(content) }
    }
  })
}
