/**
 * PowerDNS Authoritative by its HTTP API (4.7 and later). A zone's `account` stores its claim, and
 * its SOA the serial. Both are written last, so that an interrupted put is detected and repaired.
 */
import { DriverFailure } from '../../../platform/errors.ts'
import { callHttp, jsonOf, type HttpAnswer, type HttpCall } from '../../../platform/http-client.ts'
import type { DnsDriver, RecordSet, ZoneHead } from '../../driver.ts'
import type { PowerdnsSettings } from './settings.ts'
import {
  changeOf,
  difference,
  dotted,
  nsOf,
  replace,
  serialOf,
  soaOf,
  type Change,
  type Rrset,
} from './wire.ts'

interface ZoneAnswer {
  readonly name: string
  readonly account?: string
  readonly rrsets?: readonly Rrset[]
}

/** A body may have 2 MB (webserver-max-bodysize). */
const setsPerCall = 2000
const maxAnswerBytes = 67_108_864
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function createPowerdns(settings: PowerdnsSettings): DnsDriver {
  const origin = settings.url.replace(/\/+$/, '')
  const base = `${origin}/api/v1/servers/${encodeURIComponent(settings.serverId)}`
  const call = (
    method: HttpCall['method'],
    path: string,
    json?: unknown,
    accept: readonly number[] = [],
  ): Promise<HttpAnswer> =>
    callHttp({
      peer: 'powerdns',
      method,
      url: `${base}${path}`,
      headers: { 'x-api-key': settings.apiKey },
      ...(json !== undefined && { json }),
      accept,
      // every call describes the wanted state, so it may be repeated
      repeatable: true,
      timeoutMs: settings.timeoutMs,
      maxBytes: maxAnswerBytes,
    })
  const pathOf = (name: string): string => `/zones/${dotted(name)}`

  async function find(name: string, query = ''): Promise<ZoneAnswer | undefined> {
    const answer = await call('GET', `${pathOf(name)}${query}`, undefined, [404])
    return answer.status === 404 ? undefined : (jsonOf(answer, 'powerdns') as ZoneAnswer)
  }
  const findHead = (name: string): Promise<ZoneAnswer | undefined> =>
    find(name, `?rrset_name=${dotted(name)}&rrset_type=SOA`)

  /**
   * One call is atomic. Only a change of thousands of sets needs more; the SOA comes with the last.
   */
  async function patch(name: string, changes: readonly Change[], soa: Change): Promise<void> {
    const ordered = [
      ...changes.filter(({ changetype }) => changetype === 'DELETE'),
      ...changes.filter(({ changetype }) => changetype === 'REPLACE'),
      soa,
    ]
    for (let from = 0; from < ordered.length; from += setsPerCall) {
      await call('PATCH', pathOf(name), { rrsets: ordered.slice(from, from + setsPerCall) })
    }
  }

  async function create(head: ZoneHead, wanted: readonly Rrset[]): Promise<void> {
    const fits = wanted.length < setsPerCall
    const answer = await call(
      'POST',
      '/zones?rrsets=false',
      {
        name: dotted(head.name),
        kind: 'Native',
        nameservers: [],
        // the serial is ours; PowerDNS would make one from the date
        soa_edit_api: '',
        account: fits ? head.id : '',
        rrsets: fits ? [...wanted, soaOf(head)] : [nsOf(head), soaOf({ ...head, serial: 0 })],
      },
      [409],
    )
    // another process has just made the zone; the next try finds it
    if (answer.status === 409)
      throw new DriverFailure('unavailable', 'powerdns: the zone appeared meanwhile')
    if (fits) return
    await patch(head.name, wanted.map(replace), replace(soaOf(head)))
    await call('PUT', pathOf(head.name), { account: head.id })
  }

  async function putZone(head: ZoneHead, sets: readonly RecordSet[]): Promise<void> {
    const wanted = [
      nsOf(head),
      ...sets.flatMap((set): Rrset[] => {
        const change = changeOf(set)
        return change.changetype === 'REPLACE'
          ? [{ name: change.name, type: change.type, ttl: change.ttl, records: change.records }]
          : []
      }),
    ]
    const held = await find(head.name)
    if (!held) return create(head, wanted)
    const changesHands = held.account !== head.id
    if (changesHands) await call('PUT', pathOf(head.name), { account: '' })
    await patch(
      head.name,
      difference(
        (held.rrsets ?? []).filter(({ type }) => type !== 'SOA'),
        wanted,
      ),
      replace(soaOf(head)),
    )
    if (changesHands) await call('PUT', pathOf(head.name), { account: head.id })
    return undefined
  }

  return {
    name: 'powerdns',
    capabilities: { proxied: false, apexFlattening: false },
    durable: true,
    putZone,
    async changeZone(head, fromSerial, sets) {
      const held = await findHead(head.name)
      if (!held || held.account !== head.id || serialOf(held.rrsets ?? []) !== fromSerial)
        return 'behind'
      await patch(head.name, sets.map(changeOf), replace(soaOf(head)))
      return 'applied'
    },
    async removeZone(name) {
      await call('DELETE', pathOf(name), undefined, [404])
    },
    async held(name) {
      const zone = await findHead(name)
      const serial = serialOf(zone?.rrsets ?? [])
      return zone?.account !== undefined && uuid.test(zone.account) && serial !== undefined
        ? { id: zone.account, serial }
        : undefined
    },
    async list() {
      const zones = jsonOf(
        await call('GET', '/zones?dnssec=false'),
        'powerdns',
      ) as readonly ZoneAnswer[]
      return zones.flatMap(({ name, account }) =>
        uuid.test(account ?? '') ? [name.replace(/\.$/, '')] : [],
      )
    },
    async start() {},
    async health() {
      try {
        await call('GET', '')
        return undefined
      } catch (error) {
        if (error instanceof DriverFailure) return error.message
        throw error
      }
    },
    async close() {},
  }
}
