/**
 * From the root down to the zone that delegates a name, asking only the servers of each zone: no
 * recursion, no cache.
 */
import type { Answer } from 'dns-packet'
import {
  askServer,
  isPlainName,
  plain,
  type DnsAnswer,
  type Endpoint,
  type Question,
} from './ask.ts'

export interface WalkOptions {
  readonly roots: readonly Endpoint[]
  /** The endpoint at which a server with this address is queried; undefined: it is not. */
  readonly endpointOf: (address: string) => Endpoint | undefined
  /** The known endpoints of our own servers, by name; undefined: not ours. */
  readonly ourServers: (name: string) => readonly Endpoint[] | undefined
  /** Time limit per query, ms. */
  readonly timeoutMs: number
}

/** A name server as a referral names it. */
export interface NamedServer {
  readonly name: string
  /** Glue from the queried zone. */
  readonly addresses: readonly string[]
}

/** The answer of one server of the parent zone about a name. */
export type ParentAnswer =
  | { readonly kind: 'delegated'; readonly servers: readonly NamedServer[] }
  | { readonly kind: 'none' }
  /** The name does not exist. */
  | { readonly kind: 'unknown' }

export interface ParentAnswers {
  /** The queried zone; '' is the root. */
  readonly zone: string
  readonly answers: readonly ParentAnswer[]
  /** The servers that answered. */
  readonly servers: readonly Endpoint[]
}

/** A foreign zone can refer us anywhere: these limits bound the walk. */
const limits = { questions: 60, zones: 12, serversAsked: 6, names: 3 } as const

const isWithin = (name: string, zone: string): boolean =>
  zone === '' || name === zone || name.endsWith(`.${zone}`)
const nsRecords = (records: readonly Answer[]): { owner: string; target: string }[] =>
  records.flatMap((record) =>
    record.type === 'NS' ? [{ owner: plain(record.name), target: plain(record.data) }] : [],
  )

/** The NS names of `owner`, with the glue for which `zone` is authoritative. */
function serversOf(
  answer: DnsAnswer,
  records: readonly Answer[],
  owner: string,
  zone: string,
): NamedServer[] {
  const names = new Set(
    nsRecords(records).flatMap((record) => (record.owner === owner ? [record.target] : [])),
  )
  const glue = answer.additionals.flatMap((record) =>
    (record.type === 'A' || record.type === 'AAAA') && isWithin(plain(record.name), zone)
      ? [{ name: plain(record.name), address: record.data }]
      : [],
  )
  return [...names].map((name) => ({
    name,
    addresses: glue.flatMap((one) => (one.name === name ? [one.address] : [])),
  }))
}

type Step =
  | { readonly referral: string; readonly servers: readonly NamedServer[] }
  | { readonly answer: ParentAnswer }
  | undefined

/**
 * The meaning for `name` of a response by one of `zone`'s servers. Undefined: it is useless (lame,
 * refused, or a referral upwards or to another branch).
 */
function stepFrom(answer: DnsAnswer | undefined, name: string, zone: string): Step {
  if (!answer) return undefined
  if (answer.rcode === 'NXDOMAIN')
    return answer.isAuthoritative ? { answer: { kind: 'unknown' } } : undefined
  if (answer.rcode !== 'NOERROR') return undefined
  const own = serversOf(answer, answer.authorities, name, zone)
  if (own.length > 0 && !answer.isAuthoritative)
    return { answer: { kind: 'delegated', servers: own } }
  if (answer.isAuthoritative) {
    const answered = serversOf(answer, answer.answers, name, zone)
    return {
      answer: answered.length > 0 ? { kind: 'delegated', servers: answered } : { kind: 'none' },
    }
  }
  const owner = nsRecords(answer.authorities)
    .map((record) => record.owner)
    .find((one) => one.length > zone.length && isWithin(one, zone) && isWithin(name, one))
  return owner === undefined
    ? undefined
    : { referral: owner, servers: serversOf(answer, answer.authorities, owner, zone) }
}

/** One walk of a check: counts its queries and ends at `endsAt` (of performance.now()). */
export class Walk {
  readonly #options: WalkOptions
  readonly #endsAt: number
  #questions = 0

  constructor(options: WalkOptions, endsAt: number) {
    this.#options = options
    this.#endsAt = endsAt
  }

  async ask(server: Endpoint, question: Question): Promise<DnsAnswer | undefined> {
    if (++this.#questions > limits.questions) return undefined
    return askServer(
      server,
      question,
      Math.min(this.#options.timeoutMs, this.#endsAt - performance.now()),
    )
  }

  /**
   * The answers of the parent zone's own servers about the delegation of `name`, from at least two
   * servers if it has two. Undefined: no server on the way answers.
   */
  async parentOf(name: string): Promise<ParentAnswers | undefined> {
    let zone = ''
    let servers = this.#options.roots
    for (let depth = 0; depth < limits.zones; depth++) {
      const candidates = servers.slice(0, limits.serversAsked)
      const first = await this.#steps(candidates.slice(0, 2), name, zone)
      const found = first.length > 0 ? first : await this.#steps(candidates.slice(2), name, zone)
      const usable = found.flatMap(({ step, server }) =>
        'answer' in step ? [{ answer: step.answer, server }] : [],
      )
      if (usable.length === 1 && first.length > 0 && candidates.length > 2) {
        for (const { step, server } of await this.#steps(candidates.slice(2), name, zone))
          if ('answer' in step) usable.push({ answer: step.answer, server })
      }
      if (usable.length > 0)
        return {
          zone,
          answers: usable.map(({ answer }) => answer),
          servers: usable.map(({ server }) => server),
        }
      const referral = found.flatMap(({ step }) => ('referral' in step ? [step] : []))[0]
      if (!referral) return undefined
      zone = referral.referral
      servers = await this.addressesOf(referral.servers)
    }
    return undefined
  }

  async #steps(
    servers: readonly Endpoint[],
    name: string,
    zone: string,
  ): Promise<{ readonly step: NonNullable<Step>; readonly server: Endpoint }[]> {
    const steps = await Promise.all(
      servers.map(async (server) => ({
        server,
        step: stepFrom(await this.ask(server, { name, type: 'NS' }), name, zone),
      })),
    )
    return steps.flatMap(({ server, step }) => (step ? [{ server, step }] : []))
  }

  /**
   * The endpoints of these servers: known ones for ours, else glue, else their names are looked up,
   * at most `nested` levels deep.
   */
  async addressesOf(servers: readonly NamedServer[], nested = 0): Promise<Endpoint[]> {
    const known = servers.flatMap(
      ({ name, addresses }) => this.#options.ourServers(name) ?? this.#usable(addresses),
    )
    if (known.length > 0 || nested >= limits.names) return distinct(known)
    const found = await Promise.all(
      servers
        .slice(0, limits.names)
        .map(async ({ name }) =>
          isPlainName(name) ? this.#usable(await this.#lookup(name, nested + 1)) : [],
        ),
    )
    return distinct(found.flat())
  }

  /** IPv4 first, because not every machine has IPv6. */
  #usable(addresses: readonly string[]): Endpoint[] {
    return addresses
      .toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')))
      .slice(0, 2)
      .flatMap((address) => this.#options.endpointOf(address) ?? [])
  }

  /** The addresses of a name server, found from the root down. */
  async #lookup(name: string, nested: number): Promise<string[]> {
    let zone = ''
    let servers = this.#options.roots
    for (let depth = 0; depth < limits.zones; depth++) {
      let next: { zone: string; servers: readonly NamedServer[] } | undefined
      const answers = await Promise.all(
        servers.slice(0, 2).map((server) => this.ask(server, { name, type: 'A' })),
      )
      for (const answer of answers) {
        if (!answer || answer.rcode !== 'NOERROR') continue
        const addresses = answer.answers.flatMap((record) =>
          record.type === 'A' && plain(record.name) === name ? [record.data] : [],
        )
        if (answer.isAuthoritative) return addresses
        const owner = nsRecords(answer.authorities)
          .map((record) => record.owner)
          .find((one) => one.length > zone.length && isWithin(one, zone) && isWithin(name, one))
        if (owner !== undefined)
          next ??= { zone: owner, servers: serversOf(answer, answer.authorities, owner, zone) }
      }
      if (!next) return []
      zone = next.zone
      servers = await this.addressesOf(next.servers, nested)
    }
    return []
  }
}

const distinct = (endpoints: readonly Endpoint[]): Endpoint[] => [
  ...new Map(
    endpoints.map((endpoint) => [`${endpoint.address} ${endpoint.port}`, endpoint]),
  ).values(),
]
