/**
 * A PowerDNS Authoritative server: the part of its HTTP API that the portal uses, and its name
 * server's answers. It refuses what the real one refuses, with the same messages and forms: 422
 * with JSON, other errors as plain text. Source:
 * https://doc.powerdns.com/authoritative/http-api/zone.html; refusals compared with version 4.7.3.
 */
import type { Question } from 'dns-packet'
import { json, type Call, type Reply, type Routes } from '../http.ts'
import type { NameServerAnswer } from '../name-server.ts'
import { answerFrom, type ServedZone } from '../zone-answers.ts'
import { answersOf, faultOf, type Rrset } from './records.ts'

interface Zone {
  /** With a dot at the end. */
  readonly name: string
  account: string
  /** Keys are `name type`. */
  sets: Map<string, Rrset>
}
interface Body {
  readonly name?: string
  readonly account?: string
  readonly rrsets?: readonly Patch[]
}
interface Patch extends Rrset {
  readonly changetype?: string
}

const plain = (text: string, status: number): Reply => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: text,
})
const notFound = (): Reply => plain('Not Found', 404)
const refuse = (error: string): Reply => json({ error }, 422)
const keyOf = ({ name, type }: { name: string; type: string }): string => `${name} ${type}`

export function openPowerdns(keys: { readonly apiKey: string }): {
  readonly routes: Routes
  answer(question: Question): NameServerAnswer
} {
  const zones = new Map<string, Zone>()
  const server = '/api/v1/servers/localhost'

  const guarded =
    (route: (call: Call, zone: Zone | undefined) => Reply) =>
    (call: Call): Reply => {
      if (call.headers['x-api-key'] !== keys.apiKey) return plain('Unauthorized', 401)
      try {
        return route(call, zones.get(call.params['zone'] ?? ''))
      } catch (error) {
        if (error instanceof SyntaxError) return plain('Bad Request', 400)
        throw error
      }
    }
  const bodyOf = (call: Call): Body => JSON.parse(call.body.toString('utf8')) as Body
  const shown = ({ name, account, sets }: Zone, filter?: (set: Rrset) => boolean): object => ({
    id: name,
    name,
    kind: 'Native',
    account,
    rrsets: [...sets.values()].filter(filter ?? (() => true)),
  })

  /** All or nothing: the resulting sets, or the first error. */
  function applied(zone: Zone, patches: readonly Patch[]): Map<string, Rrset> | string {
    const sets = new Map(zone.sets)
    const seen = new Set<string>()
    for (const { changetype, ...set } of patches) {
      if (seen.has(`${keyOf(set)} ${changetype}`))
        return `Duplicate RRset ${set.name} IN ${set.type} with changetype: ${changetype}`
      seen.add(`${keyOf(set)} ${changetype}`)
      if (changetype === 'DELETE') sets.delete(keyOf(set))
      else if (changetype === 'REPLACE') {
        const fault = faultOf(set, zone.name)
        if (fault !== undefined) return fault
        const conflicting =
          set.type === 'CNAME' ? ['A', 'AAAA', 'TXT', 'MX', 'NS', 'SOA'] : ['CNAME']
        if (conflicting.some((type) => sets.has(`${set.name} ${type}`))) {
          return `RRset ${set.name} IN ${set.type}: Conflicts with pre-existing RRset`
        }
        sets.set(keyOf(set), set)
      } else return 'Changetype not understood'
    }
    return sets
  }

  const routes: Routes = {
    [`GET ${server}`]: guarded(() =>
      json({ type: 'Server', id: 'localhost', daemon_type: 'authoritative' }),
    ),
    [`GET ${server}/zones`]: guarded(() =>
      json(
        [...zones.values()].map(({ name, account }) => ({
          id: name,
          name,
          kind: 'Native',
          account,
        })),
      ),
    ),
    [`POST ${server}/zones`]: guarded((call) => {
      const body = bodyOf(call)
      const { name = '' } = body
      if (!name.endsWith('.')) return refuse(`DNS Name '${name}' is not canonical`)
      if (zones.has(name)) return plain('Conflict', 409)
      const zone: Zone = { name, account: body.account ?? '', sets: new Map() }
      const sets = applied(
        zone,
        (body.rrsets ?? []).map((set) => ({ ...set, changetype: 'REPLACE' })),
      )
      if (typeof sets === 'string') return refuse(sets)
      zones.set(name, { ...zone, sets })
      return json(
        shown(zone, () => false),
        201,
      )
    }),
    [`GET ${server}/zones/:zone`]: guarded(({ query }, zone) => {
      const [name, type] = [query.get('rrset_name'), query.get('rrset_type')]
      return zone
        ? json(
            shown(
              zone,
              name === null
                ? undefined
                : (set) => set.name === name && (type === null || set.type === type),
            ),
          )
        : notFound()
    }),
    [`PATCH ${server}/zones/:zone`]: guarded((call, zone) => {
      if (!zone) return notFound()
      const sets = applied(zone, bodyOf(call).rrsets ?? [])
      if (typeof sets === 'string') return refuse(sets)
      zone.sets = sets
      return { status: 204 }
    }),
    [`PUT ${server}/zones/:zone`]: guarded((call, zone) => {
      if (!zone) return notFound()
      zone.account = bodyOf(call).account ?? zone.account
      return { status: 204 }
    }),
    [`DELETE ${server}/zones/:zone`]: guarded((_, zone) => {
      if (!zone) return notFound()
      zones.delete(zone.name)
      return { status: 204 }
    }),
  }
  return {
    routes,
    answer(question) {
      const served = [...zones.values()].map((zone): ServedZone => ({
        name: zone.name.replace(/\.$/, ''),
        records: [...zone.sets.values()].flatMap(answersOf),
      }))
      return answerFrom(served, question)
    },
  }
}
