/**
 * A small simulated internet of name servers on this machine. Each has an address of its own that
 * glue uses, and is really a port of 127.0.0.1. The test defines their zones, and how they
 * misbehave.
 */
import type { Answer, Question, StringAnswer } from 'dns-packet'
import { openNameServer, type NameServer, type NameServerAnswer } from '../sandbox/name-server.ts'

export interface Delegation {
  readonly ns: readonly string[]
  /** By the server's name. */
  readonly glue?: Readonly<Record<string, readonly string[]>>
  /** Key tag; if given, there is a DS record. */
  readonly ds?: number
}
export interface LittleZone {
  /** '' is the root. */
  readonly name: string
  readonly ns: readonly string[]
  readonly delegations: Map<string, Delegation>
  /** Further records of the zone itself. */
  readonly records: Answer[]
}
export type Manner =
  /** Never answers. */
  | 'silent'
  /** Over UDP it only says that the answer does not fit. */
  | 'truncates'
  /** Refuses queries with EDNS. */
  | 'knows no EDNS'
  /** Answers SERVFAIL. */
  | 'fails'
  /** Answers REFUSED. */
  | 'refuses'
  /** Answers another question than the one that was asked. */
  | 'answers aside'
  /** Refers back to the root's own servers. */
  | 'refers up'

export interface LittleServer {
  readonly address: string
  readonly zones: Map<string, LittleZone>
  manner: Manner | undefined
  /** The queries that it received, as `NS shop.com`. */
  readonly queries: string[]
}
export interface Hierarchy {
  server(address: string): Promise<LittleServer>
  /** The real endpoint of a server with this address; undefined: there is none. */
  endpointOf(address: string): { address: string; port: number } | undefined
  close(): Promise<void>
}

const ttl = 60
const isWithin = (name: string, zone: string): boolean =>
  zone === '' || name === zone || name.endsWith(`.${zone}`)
const ns = (owner: string, names: readonly string[]): StringAnswer[] =>
  names.map((data) => ({ type: 'NS', name: owner === '' ? '.' : owner, ttl, data }))
const addresses = (glue: Delegation['glue']): Answer[] =>
  Object.entries(glue ?? {}).flatMap(([name, list]) =>
    list.map((data): Answer => ({ type: data.includes(':') ? 'AAAA' : 'A', name, ttl, data })),
  )
const ds = (owner: string, { ds: keyTag }: Delegation): Answer[] =>
  keyTag === undefined
    ? []
    : [
        {
          type: 'DS',
          name: owner,
          ttl,
          data: { keyTag, algorithm: 13, digestType: 2, digest: Buffer.alloc(32, 7) },
        },
      ]
const soa = ({ name }: LittleZone): Answer => ({
  type: 'SOA',
  name: name === '' ? '.' : name,
  ttl,
  data: {
    mname: 'a.invalid',
    rname: 'b.invalid',
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum: 1,
  },
})

/** The answer by the algorithm of RFC 1034, 4.3.2. */
function answerOf(
  zones: ReadonlyMap<string, LittleZone>,
  { name, type }: Question,
): NameServerAnswer {
  const zone = [...zones.values()]
    .filter((one) => isWithin(name, one.name))
    .toSorted((a, b) => b.name.length - a.name.length)[0]
  if (!zone) return { rcode: 'REFUSED' }
  const cut = [...zone.delegations].find(([owner]) => isWithin(name, owner))
  if (cut) {
    const [owner, delegation] = cut
    if (type === 'DS' && name === owner) {
      return {
        rcode: 'NOERROR',
        isAuthoritative: true,
        answers: ds(owner, delegation),
        authorities: delegation.ds === undefined ? [soa(zone)] : [],
      }
    }
    return {
      rcode: 'NOERROR',
      authorities: [...ns(owner, delegation.ns), ...ds(owner, delegation)],
      additionals: addresses(delegation.glue),
    }
  }
  const own: Answer[] = [soa(zone), ...ns(zone.name, zone.ns)]
  const here = [...own, ...zone.records].filter(
    (record) => record.name.replace(/^\.$/, '') === name,
  )
  if (here.length === 0)
    return { rcode: 'NXDOMAIN', isAuthoritative: true, authorities: [soa(zone)] }
  const answers = here.filter((record) => record.type === type)
  return {
    rcode: 'NOERROR',
    isAuthoritative: true,
    answers,
    authorities: answers.length === 0 ? [soa(zone)] : [],
  }
}

export function openHierarchy(): Hierarchy {
  const open = new Map<string, { server: LittleServer; listener: NameServer }>()
  async function server(address: string): Promise<LittleServer> {
    const little: LittleServer = { address, zones: new Map(), manner: undefined, queries: [] }
    const listener = await openNameServer({
      host: '127.0.0.1',
      port: 0,
      log: (line) => {
        throw new Error(line)
      },
      answer(question, over, hasEdns): NameServerAnswer | undefined {
        little.queries.push(`${question.type} ${question.name}`)
        switch (little.manner) {
          case 'silent':
            return undefined
          case 'fails':
            return { rcode: 'SERVFAIL' }
          case 'refuses':
            return { rcode: 'REFUSED' }
          case 'refers up':
            return { rcode: 'NOERROR', authorities: ns('', ['a.root.test']) }
          case 'knows no EDNS':
            return hasEdns ? { rcode: 'FORMERR' } : answerOf(little.zones, question)
          case 'truncates':
            return over === 'udp'
              ? { rcode: 'NOERROR', isTruncated: true }
              : answerOf(little.zones, question)
          case 'answers aside':
            return {
              ...answerOf(little.zones, question),
              instead: { ...question, name: `other.${question.name}` },
            }
          case undefined:
            return answerOf(little.zones, question)
        }
      },
    })
    open.set(address, { server: little, listener })
    return little
  }
  return {
    server,
    endpointOf(address) {
      const found = open.get(address)
      return found && { address: '127.0.0.1', port: found.listener.port }
    },
    async close() {
      await Promise.all([...open.values()].map(({ listener }) => listener.close()))
    },
  }
}
