/**
 * Cloudflare by its API v4, with our own client (decision 23). A TXT record `_portal-zone` in each
 * zone stores the claim and the serial. It is written with the last change, so that an interrupted
 * put is detected and repaired. The zone's name servers are Cloudflare's: for the portal's pairs
 * the account needs custom name servers with those names.
 */
import { DriverFailure } from '../../../platform/errors.ts'
import { callHttp, jsonOf, type HttpCall } from '../../../platform/http-client.ts'
import type { DnsDriver, RecordSet } from '../../driver.ts'
import type { CloudflareSettings } from './settings.ts'
import {
  difference,
  isOurs,
  readState,
  recordsOf,
  stateName,
  stateOf,
  type Batch,
  type CloudflareRecord,
  type HeldRecord,
} from './wire.ts'

interface Page<T> {
  readonly result: readonly T[]
  readonly result_info?: { readonly total_pages?: number }
}
interface Zone {
  readonly id: string
  readonly name: string
}

const recordsPerPage = 5000
const zonesPerPage = 50
const maxAnswerBytes = 33_554_432
/** Zones whose state record is read in parallel. */
const zonesAtOnce = 4

export function createCloudflare(settings: CloudflareSettings): DnsDriver {
  const base = settings.url.replace(/\/+$/, '')
  const { accountId, minTtlSeconds, changesPerCall } = settings
  async function call<T>(method: HttpCall['method'], path: string, json?: unknown): Promise<T> {
    const answer = await callHttp({
      peer: 'cloudflare',
      method,
      url: `${base}${path}`,
      headers: { authorization: `Bearer ${settings.apiToken}` },
      ...(json !== undefined && { json }),
      // each change reads the present records first, so it may be repeated
      repeatable: true,
      timeoutMs: settings.timeoutMs,
      maxBytes: maxAnswerBytes,
    })
    return jsonOf(answer, 'cloudflare') as T
  }
  async function pages<T>(path: string, perPage: number): Promise<T[]> {
    const all: T[] = []
    for (let page = 1; ; page++) {
      const { result, result_info: info } = await call<Page<T>>(
        'GET',
        `${path}&per_page=${perPage}&page=${page}`,
      )
      all.push(...result)
      if (page >= (info?.total_pages ?? 1)) return all
    }
  }
  const find = async (name: string): Promise<Zone | undefined> =>
    (
      await call<Page<Zone>>(
        'GET',
        `/zones?name=${encodeURIComponent(name)}&account.id=${encodeURIComponent(accountId)}`,
      )
    ).result[0]
  const recordsIn = (zone: Zone): Promise<HeldRecord[]> =>
    pages(`/zones/${zone.id}/dns_records?order=name`, recordsPerPage)
  const noteIn = (zone: Zone): Promise<Page<HeldRecord>> =>
    call(
      'GET',
      `/zones/${zone.id}/dns_records?type=TXT&name=${encodeURIComponent(stateName(zone.name))}`,
    )

  /**
   * One call is one transaction; only large changes need more. The state record comes with the
   * last.
   */
  async function apply(zone: Zone, changes: Batch, note: Batch): Promise<void> {
    const steps = [
      ...changes.deletes.map((one) => ({ deletes: [one], posts: [] })),
      ...changes.posts.map((one) => ({ deletes: [], posts: [one] })),
    ]
    const room = changesPerCall - 2
    for (let from = 0; from < steps.length || from === 0; from += room) {
      const part: readonly Batch[] = [
        ...steps.slice(from, from + room),
        ...(from + room >= steps.length ? [note] : []),
      ]
      const batch = {
        deletes: part.flatMap(({ deletes }) => deletes),
        posts: part.flatMap(({ posts }) => posts),
      }
      await call('POST', `/zones/${zone.id}/dns_records/batch`, batch)
    }
  }
  const notesOf = (held: readonly HeldRecord[], zone: string): HeldRecord[] =>
    held.filter(({ type, name }) => type === 'TXT' && name === stateName(zone))
  /** The name of our state record is reserved. */
  const wanted = (zone: string, sets: readonly RecordSet[]): CloudflareRecord[] =>
    sets
      .filter(({ name }) => name !== stateName(zone))
      .flatMap((set) => recordsOf(set, minTtlSeconds))
  const note = (zone: string, id: string, serial: number): CloudflareRecord =>
    stateOf(zone, id, serial, minTtlSeconds)

  return {
    name: 'cloudflare',
    capabilities: { proxied: true, apexFlattening: true },
    durable: true,
    async putZone(head, sets) {
      const zone =
        (await find(head.name)) ??
        (
          await call<{ result: Zone }>('POST', '/zones', {
            name: head.name,
            account: { id: accountId },
            type: 'full',
          })
        ).result
      const held = await recordsIn(zone)
      const old = notesOf(held, head.name)
      const ours = held.filter((record) => isOurs(record, head.name))
      const changes = difference(ours, wanted(head.name, sets))
      const changesHands = readState(old, head.name)?.id !== head.id
      // while the zone goes to another claim it has no state record
      if (changesHands && old.length > 0)
        await call('POST', `/zones/${zone.id}/dns_records/batch`, {
          deletes: old.map(({ id }) => ({ id })),
        })
      await apply(
        zone,
        changes,
        difference(changesHands ? [] : old, [note(head.name, head.id, head.serial)]),
      )
    },
    async changeZone(head, fromSerial, sets) {
      const zone = await find(head.name)
      if (!zone) return 'behind'
      const held = await recordsIn(zone)
      const old = notesOf(held, head.name)
      const state = readState(old, head.name)
      if (state?.id !== head.id || state.serial !== fromSerial) return 'behind'
      const touched = new Set(sets.map(({ name, type }) => `${type} ${name}`))
      const before = held.filter(
        (record) => isOurs(record, head.name) && touched.has(`${record.type} ${record.name}`),
      )
      const changes = difference(before, wanted(head.name, sets))
      await apply(zone, changes, difference(old, [note(head.name, head.id, head.serial)]))
      return 'applied'
    },
    async removeZone(name) {
      const zone = await find(name)
      if (zone) await call('DELETE', `/zones/${zone.id}`)
    },
    async held(name) {
      const zone = await find(name)
      return zone && readState((await noteIn(zone)).result, name)
    },
    async list() {
      const zones = await pages<Zone>(
        `/zones?account.id=${encodeURIComponent(accountId)}`,
        zonesPerPage,
      )
      const names: string[] = []
      // the account may have other zones: only those with our state record are ours
      for (let from = 0; from < zones.length; from += zonesAtOnce) {
        const part = zones.slice(from, from + zonesAtOnce)
        const notes = await Promise.all(part.map(noteIn))
        names.push(
          ...part.flatMap((zone, at) =>
            readState(notes[at]?.result ?? [], zone.name) ? [zone.name] : [],
          ),
        )
      }
      return names
    },
    async start() {},
    async health() {
      try {
        await call('GET', `/zones?account.id=${encodeURIComponent(accountId)}&per_page=5`)
        return undefined
      } catch (error) {
        if (error instanceof DriverFailure) return error.message
        throw error
      }
    },
    async close() {},
  }
}
