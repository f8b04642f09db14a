/**
 * Cloudflare: the part of its API v4 that the portal speaks, every body checked against the
 * published schema, and what its name servers answer. Source:
 * https://developers.cloudflare.com/api; an Enterprise plan, so TTLs begin at 30 seconds.
 */
import { readFileSync } from 'node:fs'
import { isIPv4, isIPv6 } from 'node:net'
import { Ajv } from 'ajv'
import type { Answer, Question } from 'dns-packet'
import { json, type Call, type Reply, type Routes } from '../http.ts'
import type { NameServerAnswer } from '../name-server.ts'
import { answerFrom, stringsOf, type ServedZone } from '../zone-answers.ts'

interface CloudRecord {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly content: string
  readonly ttl: number
  readonly proxied?: boolean
  readonly priority?: number
}
interface Zone {
  readonly id: string
  readonly name: string
  readonly accountId: string
  records: Map<string, CloudRecord>
}
interface Batch {
  readonly deletes?: readonly { readonly id: string }[]
  readonly posts?: readonly Omit<CloudRecord, 'id'>[]
}

const document = JSON.parse(
  readFileSync(new URL('requests.json', import.meta.url), 'utf8'),
) as object
const ajv = new Ajv({ strict: false })
ajv.addSchema(document, 'cloudflare')
const isCreateZone = ajv.compile<{ name: string; account: { id: string } }>({
  $ref: 'cloudflare#/components/schemas/CreateZone',
})
const isBatch = ajv.compile<Batch>({ $ref: 'cloudflare#/components/schemas/Batch' })

/** The addresses in answers for proxied names. */
const edge = { A: '192.0.2.250', AAAA: '2001:db8::250' } as const
const proxiedTtlSeconds = 300

const fine = (result: unknown, info?: object): Reply =>
  json({ success: true, errors: [], messages: [], result, ...(info && { result_info: info }) })
const refuse = (status: number, code: number, message: string): Reply =>
  json({ success: false, errors: [{ code, message }], messages: [], result: null }, status)

function paged(all: readonly unknown[], { query }: Call, most: number): Reply {
  const perPage = Math.min(Number(query.get('per_page') ?? 100), most)
  const page = Number(query.get('page') ?? 1)
  const part = all.slice((page - 1) * perPage, page * perPage)
  return fine(part, {
    page,
    per_page: perPage,
    count: part.length,
    total_count: all.length,
    total_pages: Math.max(1, Math.ceil(all.length / perPage)),
  })
}

/** Cloudflare's own code and message; undefined for a valid record. */
function faultOf(
  record: Omit<CloudRecord, 'id'>,
  zone: Zone,
  records: ReadonlyMap<string, CloudRecord>,
): readonly [number, string] | undefined {
  const { type, name, content } = record
  if (name !== zone.name && !name.endsWith(`.${zone.name}`)) return [9000, 'DNS name is invalid.']
  if (type === 'A' && !isIPv4(content))
    return [9005, 'Content for A record must be a valid IPv4 address.']
  if (type === 'AAAA' && !isIPv6(content))
    return [9006, 'Content for AAAA record must be a valid IPv6 address.']
  if (type === 'TXT' && !/^"(?:[^"\\]|\\.)*"(?: "(?:[^"\\]|\\.)*")*$/s.test(content))
    return [9208, 'Content for TXT record is invalid.']
  for (const other of records.values()) {
    if (other.name !== name) continue
    if (other.type === type && other.content === content)
      return [81_058, 'An identical record already exists.']
    if (type === 'CNAME' || other.type === 'CNAME')
      return [81_053, 'An A, AAAA, or CNAME record with that host already exists.']
  }
  return undefined
}

export function openCloudflare(keys: {
  readonly apiToken: string
  readonly changesPerCall: number
}): {
  readonly routes: Routes
  answer(question: Question): NameServerAnswer
} {
  const zones = new Map<string, Zone>()
  let count = 0
  const newId = (): string => (++count).toString(16).padStart(32, '0')

  const guarded =
    (route: (call: Call) => Reply) =>
    (call: Call): Reply =>
      call.headers.authorization === `Bearer ${keys.apiToken}`
        ? route(call)
        : refuse(403, 10_000, 'Authentication error')
  const withZone = (route: (call: Call, zone: Zone) => Reply) =>
    guarded((call) => {
      const zone = zones.get(call.params['zone'] ?? '')
      return zone
        ? route(call, zone)
        : refuse(
            404,
            7003,
            'Could not route to the zone, perhaps your object identifier is invalid?',
          )
    })
  function bodyOf(call: Call): unknown {
    try {
      return JSON.parse(call.body.toString('utf8'))
    } catch {
      return undefined
    }
  }

  function batch(call: Call, zone: Zone): Reply {
    const body = bodyOf(call)
    if (!isBatch(body))
      return refuse(400, 9207, `Content is invalid: ${ajv.errorsText(isBatch.errors)}`)
    const { deletes = [], posts = [] } = body
    if (deletes.length + posts.length > keys.changesPerCall)
      return refuse(400, 81_044, 'The batch has too many changes.')
    // One transaction; deletions come first.
    const records = new Map(zone.records)
    for (const { id } of deletes)
      if (!records.delete(id)) return refuse(404, 81_044, 'Record does not exist.')
    const made: CloudRecord[] = []
    for (const post of posts) {
      const fault = faultOf(post, zone, records)
      if (fault) return refuse(400, ...fault)
      const record = { ...post, id: newId() }
      records.set(record.id, record)
      made.push(record)
    }
    zone.records = records
    return fine({ deletes, posts: made })
  }

  const routes: Routes = {
    'GET /client/v4/zones': guarded((call) => {
      const [name, account] = [call.query.get('name'), call.query.get('account.id')]
      const found = [...zones.values()].filter(
        (zone) =>
          (name === null || zone.name === name) && (account === null || zone.accountId === account),
      )
      return paged(
        found.map(({ id, name: of, accountId }) => ({
          id,
          name: of,
          account: { id: accountId },
          status: 'pending',
        })),
        call,
        50,
      )
    }),
    'POST /client/v4/zones': guarded((call) => {
      const body = bodyOf(call)
      if (!isCreateZone(body))
        return refuse(400, 1001, `Invalid zone: ${ajv.errorsText(isCreateZone.errors)}`)
      if ([...zones.values()].some(({ name }) => name === body.name))
        return refuse(400, 1061, `${body.name} already exists`)
      const zone: Zone = {
        id: newId(),
        name: body.name,
        accountId: body.account.id,
        records: new Map(),
      }
      zones.set(zone.id, zone)
      return fine({
        id: zone.id,
        name: zone.name,
        status: 'pending',
        name_servers: ['ada.ns.cloudflare.example', 'bob.ns.cloudflare.example'],
      })
    }),
    'DELETE /client/v4/zones/:zone': withZone((_, zone) => {
      zones.delete(zone.id)
      return fine({ id: zone.id })
    }),
    'GET /client/v4/zones/:zone/dns_records': withZone((call, zone) => {
      const [name, type] = [call.query.get('name'), call.query.get('type')]
      const found = [...zone.records.values()].filter(
        (record) =>
          (name === null || record.name === name) && (type === null || record.type === type),
      )
      return paged(found, call, 5000)
    }),
    'POST /client/v4/zones/:zone/dns_records/batch': withZone(batch),
  }
  return {
    routes,
    answer(question) {
      const asked = [...zones.values()].filter(({ name }) =>
        `.${question.name}`.endsWith(`.${name}`),
      )
      return answerFrom(asked.map(served), question)
    },
  }
}

function served({ name, records }: Zone): ServedZone {
  const soa: Answer = {
    type: 'SOA',
    name,
    ttl: 1800,
    data: {
      mname: 'ada.ns.cloudflare.example',
      rname: 'dns.cloudflare.example',
      serial: 1,
      refresh: 10_000,
      retry: 2400,
      expire: 604_800,
      minimum: 1800,
    },
  }
  return { name, records: [soa, ...[...records.values()].flatMap(answersOf)] }
}

function answersOf({ type, name, content, ttl, proxied, priority }: CloudRecord): Answer[] {
  if (proxied)
    return (['A', 'AAAA'] as const).map((of) => ({
      type: of,
      name,
      ttl: proxiedTtlSeconds,
      data: edge[of],
    }))
  switch (type) {
    case 'MX':
      return [{ type, name, ttl, data: { preference: priority ?? 0, exchange: content } }]
    case 'TXT':
      return [{ type, name, ttl, data: stringsOf(content) }]
    case 'A':
    case 'AAAA':
      return [{ type, name, ttl, data: content }]
    default:
      return [{ type: type === 'NS' ? 'NS' : 'CNAME', name, ttl, data: content }]
  }
}
