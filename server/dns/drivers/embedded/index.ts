/**
 * The portal's authoritative name server: no third-party program, no configuration, no recursion.
 * In production it has its own process (server/name-server.ts).
 */
import { randomUUID } from 'node:crypto'
import type { DnsDriver, NameServerCounts } from '../../driver.ts'
import { createAnswerer, transfer } from './answer.ts'
import { createRateLimit } from './limit.ts'
import { listen, type Handler, type Ports } from './listen.ts'
import type { Settings } from './settings.ts'
import { rcodes, readQuery, types } from './wire.ts'
import { ZoneJournal } from './zone-journal.ts'
import { Zones } from './zones.ts'

const plainAddress = (address: string): string => address.replace(/^::ffff:/, '')

export interface NameServer extends DnsDriver {
  counts(): NameServerCounts
}

/** By the four bits of the header; BADVERS needs more bits and is counted as NOERROR. */
const codeNames = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'] as const

export function createEmbedded(settings: Settings): NameServer {
  const zones = new Zones()
  const answerer = createAnswerer(zones)
  const limit = createRateLimit()
  const transferTo = new Set(settings.transferTo)
  const journal = settings.folder && new ZoneJournal(zones, settings.folder, settings.onFault)
  const startId = randomUUID()
  let ports: Ports | undefined
  let open = false
  const responses = new Float64Array(16)
  let dropped = 0
  let cut = 0

  /** A fault with one odd zone or query must not end the process. */
  function safely(bytes: Buffer, tcp: boolean): Buffer | undefined {
    try {
      return answerer.answer(bytes, tcp)
    } catch (error) {
      settings.onFault(error)
      return serverFailure(bytes)
    }
  }

  const count = (answer: Buffer): void => {
    responses[(answer[3] ?? 0) & 15]!++
  }

  const handler: Handler = {
    udp(bytes, address, nowMs) {
      const decision = limit.decide(address, nowMs)
      if (decision === 'drop') {
        dropped++
        return undefined
      }
      const answer = safely(bytes, false)
      if (!answer) return undefined
      count(answer)
      if (decision !== 'truncate') return answer
      cut++
      return truncated(answer)
    },
    *tcp(bytes, address) {
      const query = readQuery(bytes)
      if (
        query?.type === types.AXFR &&
        query.rcode === rcodes.noError &&
        transferTo.has(plainAddress(address))
      ) {
        const zone = zones.get(query.name)
        if (zone) {
          responses[rcodes.noError]!++
          try {
            yield* transfer(zone, bytes, query)
          } catch (error) {
            settings.onFault(error)
          }
          return
        }
      }
      const answer = safely(bytes, true)
      if (answer) {
        count(answer)
        yield answer
      }
    },
  }

  return {
    name: 'embedded',
    capabilities: { proxied: false, apexFlattening: false },
    durable: false,
    async putZone(head, sets) {
      zones.put(head, sets)
      if (journal) await journal.note(['put', head, sets])
    },
    async changeZone(head, fromSerial, sets) {
      const outcome = zones.change(head, fromSerial, sets)
      if (journal && outcome === 'applied') await journal.note(['change', head, fromSerial, sets])
      return outcome
    },
    async removeZone(name) {
      if (!zones.get(name)) return
      zones.remove(name)
      if (journal) await journal.note(['remove', name])
    },
    async held(name) {
      const head = zones.get(name)?.head
      return head && { id: head.id, serial: head.serial }
    },
    list: async () => zones.names(),
    startId: async () => startId,
    async start() {
      if (journal) await journal.open()
      ports = await listen({ ...settings, handler })
      open = true
    },
    counts: () => ({
      responses: Object.fromEntries(codeNames.map((name, code) => [name, responses[code] ?? 0])),
      dropped,
      truncated: cut,
    }),
    health: async () => (open ? undefined : 'the name server does not listen'),
    async close() {
      open = false
      await ports?.close()
      if (journal) await journal.close()
    },
  }
}

/** Only the header, RFC 1035's form of a server failure. */
function serverFailure(bytes: Buffer): Buffer {
  const short = Buffer.alloc(12)
  bytes.copy(short, 0, 0, 3)
  short[2] = (short[2] ?? 0) | 0x80
  short[3] = rcodes.servFail
  return short
}

/** Header and question with TC set. */
function truncated(answer: Buffer): Buffer {
  let end = 12
  if (answer.readUInt16BE(4) === 1) {
    while ((answer[end] ?? 0) > 0) end += (answer[end] ?? 0) + 1
    end += 5
  }
  const short = Buffer.from(answer.subarray(0, end))
  short[2] = (short[2] ?? 0) | 0x02
  for (const at of [6, 8, 10]) short.writeUInt16BE(0, at)
  return short
}
