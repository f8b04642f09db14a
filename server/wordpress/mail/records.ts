/**
 * SPF, DKIM and DMARC of a site's own names: the records that the DNS should have, and those that
 * it has.
 */
import { ruleText } from '../../../contract/server-sentences.ts'
import type { Language } from '../../../contract/errors.ts'
import type { MailDomain, MailRecord } from '../../../contract/wordpress-mail.ts'
import { Refusal } from '../../platform/errors.ts'
import type { DnsLookup } from '../../platform/dns-lookup.ts'
import type { MailDeps } from './deps.ts'
import { keyOf, keyRecord } from './keys.ts'
import { names, spfTexts, withMechanism } from './spf.ts'

/** The part of the DNS module that is needed here. */
export interface Zones {
  at(
    customerId: string,
    name: string,
  ): Promise<{ readonly texts: readonly string[]; readonly isAlias: boolean } | undefined>
  write(of: {
    customerId: string
    language: Language
    texts: readonly { name: string; text: string; replaces: string | null }[]
    by: { personId: string | null; tokenName: null }
  }): Promise<void>
}

export interface RecordDeps extends Pick<MailDeps, 'db' | 'clock' | 'secrets' | 'addressing'> {
  readonly lookup: DnsLookup
  readonly zones: Zones
  /** SPF's mechanism for the servers that send the portal's mail. */
  readonly spfMechanism: string
}

interface Of {
  readonly siteId: string
  readonly customerId: string
  readonly domain: string
}

const policyRecord = 'v=DMARC1; p=none'
const isPolicy = (text: string): boolean => /^v=DMARC1\s*(?:;|$)/i.test(text)
const withoutSpace = (text: string): string => text.replace(/[\s"]/g, '')
/** Names at which the policy for a domain may be (RFC 7489, 6.6.3): its own, and those above it. */
function policyNames(domain: string): string[] {
  const labels = domain.split('.')
  return labels.slice(0, -1).map((_label, at) => `_dmarc.${labels.slice(at).join('.')}`)
}

async function spfOf({ lookup, spfMechanism }: RecordDeps, domain: string): Promise<MailRecord> {
  const kind = { kind: 'spf', name: domain } as const
  const [texts, aliases] = await Promise.all([lookup.txt(domain), lookup.cname(domain)])
  const found = spfTexts(texts ?? [])
  const value = withMechanism(found[0], spfMechanism)
  if (texts === undefined || aliases === undefined)
    return { ...kind, value, state: 'unknown', found }
  if (found.length === 1 && names(found[0] ?? '', spfMechanism))
    return { ...kind, value, state: 'found', found }
  if (aliases.length > 0) return { ...kind, value, state: 'alias', found }
  return { ...kind, value, state: found.length === 0 ? 'missing' : 'differs', found }
}

async function dkimOf(deps: RecordDeps, of: Of): Promise<MailRecord> {
  const key = await keyOf(deps, of.siteId, of.domain)
  const name = `${key.selector}._domainkey.${key.domain}`
  const value = keyRecord(key)
  const texts = await deps.lookup.txt(name)
  const found = [...(texts ?? [])]
  const record = { kind: 'dkim', name, value, found } as const
  if (texts === undefined) return { ...record, state: 'unknown' }
  if (found.some((text) => withoutSpace(text) === withoutSpace(value)))
    return { ...record, state: 'found' }
  return { ...record, state: found.length === 0 ? 'missing' : 'differs' }
}

async function dmarcOf({ lookup }: RecordDeps, domain: string): Promise<MailRecord> {
  const standing = await Promise.all(
    policyNames(domain).map(async (name) => ({ name, texts: await lookup.txt(name) })),
  )
  const policies = standing.map(({ name, texts }) => ({
    name,
    found: texts?.filter(isPolicy) ?? [],
  }))
  const nearest = policies.find(({ found }) => found.length > 0)
  const record = { kind: 'dmarc', value: policyRecord } as const
  if (nearest) return { ...record, ...nearest, state: 'found' }
  const state = standing[0]?.texts === undefined ? 'unknown' : 'missing'
  return { ...record, name: `_dmarc.${domain}`, state, found: [] }
}

/** The records of a domain, as the DNS answers now. A domain without a key gets one. */
export async function mailDomainOf(deps: RecordDeps, of: Of): Promise<MailDomain> {
  const [here, ...records] = await Promise.all([
    deps.zones.at(of.customerId, of.domain),
    spfOf(deps, of.domain),
    dkimOf(deps, of),
    dmarcOf(deps, of.domain),
  ])
  return { domain: of.domain, here: here !== undefined, records }
}

/**
 * Writes missing records into the customer's zone. The present SPF record gets one more term, and
 * never a second record beside it, which would make both invalid (RFC 7208, 4.5).
 */
export async function writeMailDomain(
  deps: RecordDeps,
  of: Of & {
    readonly language: Language
    /** The member who works in the account; null: the customer in person. */
    readonly personId: string | null
  },
): Promise<MailDomain> {
  const { zones, spfMechanism } = deps
  const { customerId, domain, language, personId } = of
  const refuse = (rule: 'mail_zone_elsewhere' | 'mail_spf_twice'): Refusal =>
    new Refusal('conflict', { fields: { domain: ruleText(rule, language) } })
  const standing = await zones.at(customerId, domain)
  if (!standing) throw refuse('mail_zone_elsewhere')
  const spf = spfTexts(standing.texts)
  if (spf.length > 1) throw refuse('mail_spf_twice')
  const texts: { name: string; text: string; replaces: string | null }[] = []
  if (!standing.isAlias)
    texts.push({
      name: domain,
      text: withMechanism(spf[0], spfMechanism),
      replaces: spf[0] ?? null,
    })
  const shown = await mailDomainOf(deps, of)
  for (const record of shown.records)
    if (record.kind !== 'spf' && record.state !== 'found')
      texts.push({
        name: record.name,
        text: record.value,
        replaces: record.kind === 'dkim' ? (record.found[0] ?? null) : null,
      })
  await zones.write({ customerId, language, texts, by: { personId, tokenName: null } })
  return await mailDomainOf(deps, of)
}
