/**
 * Is a domain delegated to us? The check queries the parent zone's own servers: a resolver's cache
 * is late in both directions, and what the child zone says of itself proves nothing. Only the exact
 * pair of names at the parent does.
 */
import { isPublicAddress } from '../../platform/network.ts'
import { plain, type DnsAnswer, type Endpoint } from './ask.ts'
import { advice, warnings as texts, type Case } from './doctor.ts'
import type { Sentence } from './sentence.ts'
import { Walk, type NamedServer, type ParentAnswers } from './walk.ts'

export interface DelegationOptions {
  readonly roots: readonly Endpoint[]
  /** The port of foreign name servers; other than 53 only in tests and the sandbox. */
  readonly port: number
  /** Timeout of one query; 1500 by default. */
  readonly timeoutMs?: number
  /** Timeout of the whole check; 5000 by default. */
  readonly totalTimeoutMs?: number
  /** The addresses of our own name servers. */
  readonly ourAddresses: readonly Endpoint[]
  /** All names of our name servers, in every pair. */
  readonly ourNames: readonly string[]
  /** True for names such as com and com.vn. */
  readonly publicSuffix: (name: string) => boolean
  /**
   * Also query servers at private addresses: for tests and the sandbox, where everything is on this
   * machine.
   */
  readonly allowPrivateAddresses?: boolean
  /** Overrides the endpoint for an address from a referral; undefined: not queried. */
  readonly endpointOf?: (address: string) => Endpoint | undefined
  /**
   * The addresses of customers' sites and the issuers of their certificates, for warnings about
   * AAAA and CAA records.
   */
  readonly sites?: {
    addresses(): Promise<readonly string[]>
    readonly certificateIssuers: readonly string[]
  }
}

export type DelegationReason =
  | 'not_registered'
  | 'other_nameservers'
  | 'extra_nameservers'
  | 'not_answering'
  | 'stale_ds'
  | 'public_suffix'
export type DelegationWarning = 'stale_ds' | 'missing_glue' | 'private_glue' | 'stray_aaaa' | 'caa'

export interface Verdict {
  readonly isValid: boolean
  readonly reason?: DelegationReason
  /** Lower case, without a trailing dot, sorted; the same holds for `found`. */
  readonly expected: readonly string[]
  /** The union of the names that the parent zone's servers give. */
  readonly found: readonly string[]
  /** One sentence that says what to change and where; every reason has one. */
  readonly advice?: Sentence
  readonly warnings: readonly { readonly code: DelegationWarning; readonly text: Sentence }[]
}

export interface DelegationCheck {
  /**
   * `domain`: A-labels. `expected`: the names of our name servers assigned to it. Never throws: a
   * missing answer is a finding. Ends within `totalTimeoutMs`.
   */
  check(question: {
    readonly domain: string
    readonly expected: readonly string[]
  }): Promise<Verdict>
}

const distinct = (names: readonly string[]): string[] => [...new Set(names)].toSorted()
const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index])
const isWithin = (name: string, zone: string): boolean => name === zone || name.endsWith(`.${zone}`)

export function createDelegationCheck(options: DelegationOptions): DelegationCheck {
  const { ourAddresses, port, sites, timeoutMs = 1500, totalTimeoutMs = 5000 } = options
  const ourNames = new Set(options.ourNames.map(plain))
  const endpointOf =
    options.endpointOf ??
    ((address: string): Endpoint | undefined =>
      options.allowPrivateAddresses || isPublicAddress(address) ? { address, port } : undefined)
  const walkOptions = {
    roots: options.roots,
    endpointOf,
    ourServers: (name: string): readonly Endpoint[] | undefined =>
      ourNames.has(name) ? ourAddresses : undefined,
    timeoutMs,
  }

  return {
    async check(question) {
      const domain = plain(question.domain)
      const expected = distinct(question.expected.map(plain))
      const refuse = (
        reason: DelegationReason,
        found: readonly string[],
        sentence: Sentence,
        warnings: Verdict['warnings'] = [],
      ): Verdict => ({
        isValid: false,
        reason,
        expected,
        found,
        advice: sentence,
        warnings,
      })
      if (options.publicSuffix(domain))
        return refuse('public_suffix', [], advice.publicSuffix(domain))

      const walk = new Walk(walkOptions, performance.now() + totalTimeoutMs)
      const parent = await walk.parentOf(domain)
      const isBelowRegistered =
        parent !== undefined && parent.zone !== '' && !options.publicSuffix(parent.zone)
      // servers of several zones refer past intermediate ones: the root's to shop.com
      const subject = {
        domain,
        parent: isBelowRegistered ? parent.zone : domain.slice(domain.indexOf('.') + 1),
        isBelowRegistered,
        expected,
      }
      if (!parent)
        return refuse('not_answering', [], advice.parentSilent({ ...subject, found: [] }))

      const servers = parent.answers.flatMap((answer) =>
        answer.kind === 'delegated' ? answer.servers : [],
      )
      const found = distinct(servers.map(({ name }) => name))
      const about: Case = { ...subject, found }
      const wanted = parent.answers.filter(
        (answer) =>
          answer.kind === 'delegated' &&
          same(distinct(answer.servers.map(({ name }) => name)), expected),
      )
      const isExact = wanted.length === parent.answers.length
      const [hasDs, isAnsweredByUs, remarks] = await Promise.all([
        isSigned(walk, parent, domain),
        isExact ? checkOurAnswers(walk, domain) : true,
        isExact && sites ? siteWarnings(walk, parent, domain, sites, isBelowRegistered) : [],
      ])
      const warnings = [
        ...(hasDs && !isExact ? [{ code: 'stale_ds' as const, text: texts.staleDs(domain) }] : []),
        ...glueWarnings(domain, servers),
        ...remarks,
      ]
      if (found.length === 0) {
        const isUnknown = parent.answers.every(({ kind }) => kind === 'unknown')
        return refuse(
          'not_registered',
          found,
          isUnknown ? advice.notRegistered(about) : advice.noServers(about),
          warnings,
        )
      }
      if (!isExact) {
        const hasExtra = found.some((name) => !expected.includes(name))
        const hasOurs = found.some((name) => expected.includes(name))
        const reason = hasExtra && hasOurs ? 'extra_nameservers' : 'other_nameservers'
        if (wanted.length > 0) return refuse(reason, found, advice.spreading(about), warnings)
        if (!hasExtra) return refuse(reason, found, advice.oneMissing(about), warnings)
        return refuse(
          reason,
          found,
          hasOurs ? advice.extraNameServers(about) : advice.otherNameServers(about),
          warnings,
        )
      }
      if (hasDs) return refuse('stale_ds', found, advice.staleDs(about), warnings)
      if (!isAnsweredByUs)
        return refuse('not_answering', found, advice.weAreSilent(about), warnings)
      return { isValid: true, expected, found, warnings }
    },
  }

  /**
   * At least one of our servers responds authoritatively for the domain, and none contradicts it.
   */
  async function checkOurAnswers(walk: Walk, domain: string): Promise<boolean> {
    const answers = await Promise.all(
      ourAddresses.map((server) => walk.ask(server, { name: domain, type: 'SOA' })),
    )
    const replies = answers.filter((answer) => answer !== undefined)
    return (
      replies.length > 0 &&
      replies.every(
        (answer) =>
          answer.isAuthoritative &&
          answer.answers.some(({ type, name }) => type === 'SOA' && plain(name) === domain),
      )
    )
  }

  function glueWarnings(
    domain: string,
    servers: readonly NamedServer[],
  ): Verdict['warnings'][number][] {
    const inside = servers.filter(({ name }) => isWithin(name, domain))
    const without = distinct(
      inside
        .filter(({ name }) =>
          servers.every((one) => one.name !== name || one.addresses.length === 0),
        )
        .map(({ name }) => name),
    )
    const unreachable = distinct(
      inside
        .filter(
          ({ addresses }) =>
            addresses.length > 0 && addresses.every((address) => !endpointOf(address)),
        )
        .map(({ name }) => name),
    )
    return [
      ...(without.length > 0
        ? [{ code: 'missing_glue' as const, text: texts.missingGlue(domain, without) }]
        : []),
      ...(unreachable.length > 0
        ? [{ code: 'private_glue' as const, text: texts.privateGlue(unreachable) }]
        : []),
    ]
  }

  /** Records that would break a customer's site, although the domain is delegated correctly. */
  async function siteWarnings(
    walk: Walk,
    parent: ParentAnswers,
    domain: string,
    { addresses: addressesOf, certificateIssuers }: NonNullable<DelegationOptions['sites']>,
    isBelowRegistered: boolean,
  ): Promise<Verdict['warnings'][number][]> {
    const [own] = ourAddresses
    if (!own) return []
    const [above] = parent.servers
    const [addresses, a, aaaa, caa, caaAbove] = await Promise.all([
      addressesOf(),
      walk.ask(own, { name: domain, type: 'A' }),
      walk.ask(own, { name: domain, type: 'AAAA' }),
      walk.ask(own, { name: domain, type: 'CAA' }),
      // RFC 8659, 3: a name without CAA records uses those of the name above
      isBelowRegistered && above ? walk.ask(above, { name: parent.zone, type: 'CAA' }) : undefined,
    ])
    const stray = dataOf(aaaa, 'AAAA').filter((address) => !addresses.includes(address))
    const isOurSite = dataOf(a, 'A').some((address) => addresses.includes(address))
    const holds = issuersOf(caa)
      ? { owner: domain, issuers: issuersOf(caa) }
      : { owner: parent.zone, issuers: issuersOf(caaAbove) }
    const mayIssue =
      !holds.issuers || certificateIssuers.some((issuer) => holds.issuers?.includes(issuer))
    return [
      ...(isOurSite && stray.length > 0
        ? [{ code: 'stray_aaaa' as const, text: texts.strayAaaa(domain, stray) }]
        : []),
      ...(mayIssue
        ? []
        : [{ code: 'caa' as const, text: texts.caa(domain, holds.owner, certificateIssuers) }]),
    ]
  }
}

/** Whether the parent zone still has DS records for keys that we do not have. */
async function isSigned(walk: Walk, parent: ParentAnswers, domain: string): Promise<boolean> {
  const answers = await Promise.all(
    parent.servers.slice(0, 2).map((server) => walk.ask(server, { name: domain, type: 'DS' })),
  )
  return answers.some((answer) =>
    answer?.answers.some(({ type, name }) => type === 'DS' && plain(name) === domain),
  )
}

const dataOf = (answer: DnsAnswer | undefined, type: 'A' | 'AAAA'): string[] =>
  (answer?.answers ?? []).flatMap((record) =>
    record.type === type && 'data' in record ? [String(record.data)] : [],
  )

/** The issuers allowed by CAA; undefined: none is named, so that any may issue. */
function issuersOf(answer: DnsAnswer | undefined): string[] | undefined {
  const issue = (answer?.answers ?? []).flatMap((record) =>
    record.type === 'CAA' && record.data.tag === 'issue' ? [record.data.value] : [],
  )
  // parameters may follow a semicolon; an empty name before it forbids all issuers
  return issue.length === 0
    ? undefined
    : issue.map((value) => value.split(';')[0]?.trim().toLowerCase() ?? '')
}
