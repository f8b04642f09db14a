/**
 * Customers' own domain names for their sites: added with proof, rechecked every day, released by
 * their owner or lost to another customer who proves the name by TXT.
 */
import { randomBytes } from 'node:crypto'
import { parse } from 'tldts'
import type { Language } from '../../contract/errors.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import type { DomainCheck } from '../../contract/wordpress-domains.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import {
  databaseError,
  onCommit,
  transaction,
  type Database,
  type Queryable,
  type Tx,
} from '../platform/db.ts'
import type { DnsLookup } from '../platform/dns-lookup.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import { tellDisplaced, type DisplacedDeps } from './displaced-letter.ts'
import {
  challengeOf,
  evidenceText,
  lookForProof,
  type Evidence,
  type OtherHold,
} from './ownership.ts'
import { certifySiteJob, holderOf } from './certifiable.ts'
import { holdOf, otherHoldOf, releaseOther } from './name-holds.ts'
import { ensureJob } from './change.ts'
import { defineRecheck, ownZone, recheckGapMs } from './domain-recheck.ts'
import { heldNames, lockOwnSite, takesNames, type SiteAddressing } from './store.ts'

/** For this long after an account released a name, another account must prove it by TXT. */
const quarantineMs = days(30)

export interface Domains {
  /** `list`: what the customer's screen shows, plus the new name. Answers the new list. */
  update(of: {
    customerId: string
    siteId: string
    siteName: string
    list: readonly string[]
    language: Language
  }): Promise<string[]>
  /**
   * Adds names of a domain that is active in the customer's own account here, which is proof
   * enough. Without names it only checks that the server accepts names.
   */
  adopt(tx: Tx, of: { siteId: string; customerId: string; names: readonly string[] }): Promise<void>
  remove(of: { siteId: string; customerId: string; name: string }): Promise<string[]>
  /** Answers which records would prove the name for this server, and what the DNS has now. */
  check(of: {
    customerId: string
    siteName: string
    name: string
    language: Language
  }): Promise<DomainCheck>
  /**
   * Whether a name is proven and leads to the server that has it, by the DNS as it is now. `gone`:
   * no server has it.
   */
  standing(
    name: string,
  ): Promise<
    | { readonly is: 'ready' | 'gone' | 'unknown' }
    | { readonly is: 'elsewhere'; readonly found: readonly string[] }
  >
}

/** What is stored of a proven name. */
interface Proven {
  readonly proof: string
  readonly pointed: boolean
  /** The other account's entry that the proof ends; null: there is none. */
  readonly displaces: OtherHold | null
  /** The challenge token made for that entry. */
  readonly challenge: string | null
}

/** A proof, and the entry and token that it was asked for. */
interface FoundEvidence extends Evidence, Pick<Proven, 'displaces' | 'challenge'> {}

/** How many servers of others are looked at to find shared addresses; all stand behind one edge. */
const othersLookedAt = 3

/**
 * A host name as the DNS has it: lower case, A-labels. Undefined for what is not a name below a
 * public suffix: an address, a single label, a suffix itself, or a name of the portal's own.
 */
export function readHostName(typed: string, own: readonly string[]): string | undefined {
  const text = typed
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/[/.]+$/, '')
  if (text === '' || /[\s/@:?#*_%]/.test(text) || !URL.canParse(`http://${text}`)) return undefined
  const name = new URL(`http://${text}`).hostname
  const { domain, isIp } = parse(name, { allowPrivateDomains: true })
  const labels = name.split('.')
  if (domain === null || isIp === true || name.length > 253) return undefined
  if (!labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label))) return undefined
  return own.some((ours) => name === ours || name.endsWith(`.${ours}`)) ? undefined : name
}

/** The name, and every name above it that could have an entry. */
const withParents = (name: string): string[] => {
  const labels = name.split('.')
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))
}

export function createDomains(
  deps: DisplacedDeps & {
    db: Database
    clock: Clock
    log: Log
    jobs: Jobs
    secrets: Secrets
    dns: DnsLookup
    /** Addresses of one of our host names; undefined where no name server answered. */
    addressesOf: (host: string) => Promise<readonly string[] | undefined>
    /** Whether the name lies in a domain that is active in the customer's own account here. */
    isZoneOf: (db: Queryable, customerId: string, name: string) => Promise<boolean>
    addressing: SiteAddressing
    /** The portal's own names, which nobody may take. */
    reserved: readonly string[]
    /** Tells the edge that there is a new host name. */
    onChange: () => void
  },
): Domains {
  const { db, clock, dns, secrets, addressing } = deps
  const own = [...deps.reserved, addressing.host]
  const target = (siteName: string): string => `${siteName}.${addressing.host}`
  const wrong = (rule: 'domain_form' | 'domain_taken', language: Language): Refusal =>
    new Refusal('invalid_input', { fields: { domains: ruleText(rule, language) } })

  /** Whether another account holds the name or one above it, or did within the last 30 days. */
  async function contested(name: string, customerId: string): Promise<boolean> {
    const row = await db
      .selectFrom('site_domain')
      .select('id')
      .where('name', 'in', withParents(name))
      .where('customer_id', '!=', customerId)
      .where((eb) =>
        eb.or([
          eb('released_at', 'is', null),
          eb('released_at', '>', later(clock.now(), -quarantineMs)),
        ]),
      )
      .limit(1)
      .executeTakeFirst()
    return row !== undefined
  }
  /**
   * Addresses that prove nothing because several servers have them: those of a name that belongs to
   * no server (a wildcard), and those of other customers' servers.
   */
  async function sharedAddresses(customerId: string): Promise<Set<string>> {
    const others = await db
      .selectFrom('site')
      .select('name')
      .where('customer_id', '!=', customerId)
      .where('deleted_at', 'is', null)
      .orderBy('seq', 'desc')
      .limit(othersLookedAt)
      .execute()
    const nobody = `nobody-${randomBytes(6).toString('hex')}`
    const found = await Promise.all(
      [nobody, ...others.map(({ name }) => name)].map((name) => deps.addressesOf(target(name))),
    )
    return new Set(found.flatMap((addresses) => addresses ?? []))
  }
  const evidence = async (
    name: string,
    customerId: string,
    siteName: string,
  ): Promise<FoundEvidence> => {
    const [txtOnly, addresses, shared, hold] = await Promise.all([
      contested(name, customerId),
      deps.addressesOf(target(siteName)),
      sharedAddresses(customerId),
      holdOf(db, name),
    ])
    const other = hold && hold.customerId !== customerId ? hold : undefined
    // A name that was taken from another account is checked again by the token that took it.
    const kept = other ? null : (hold?.challenge ?? null)
    const token = kept ?? challengeOf(secrets, customerId, name, other)
    const found = await lookForProof(dns, {
      name,
      target: target(siteName),
      token,
      txtOnly,
      addresses: addresses ?? [],
      shared,
    })
    const displaces = found.proof === 'txt' && other ? other : null
    return { ...found, displaces, challenge: displaces && token }
  }

  /**
   * Prevents the deletion of the server until the transaction ends: a deletion releases the names
   * that it finds, and a name written later would stay taken for ever.
   */
  async function lockTaker(tx: Tx, siteId: string, customerId: string): Promise<void> {
    if (!takesNames(await lockOwnSite(tx, siteId, customerId)))
      throw new Refusal('server_not_running')
  }

  /** Stores the proven names; refuses with conflict when another customer was faster. */
  async function assignNames(
    tx: Tx,
    of: { siteId: string; customerId: string; proven: ReadonlyMap<string, Proven> },
  ): Promise<void> {
    const { siteId, customerId } = of
    const now = clock.now()
    for (const [name, { proof, pointed, displaces, challenge }] of of.proven) {
      const former = await releaseOther(tx, {
        name,
        // Only a domain that is still active here, without a nearer domain of another account,
        // takes the name from another account.
        hold:
          proof === ownZone && (await deps.isZoneOf(tx, customerId, name))
            ? await otherHoldOf(tx, name, customerId)
            : displaces,
        now,
      })
      if (former !== undefined) {
        await tellServer(tx, former)
        await tellDisplaced(tx, deps, { siteId: former, name })
      }
      try {
        await tx
          .insertInto('site_domain')
          .values({
            site_id: siteId,
            customer_id: customerId,
            name,
            verified: true,
            proof,
            pointed,
            challenge,
            created_at: now,
            checked_at: now,
            next_check_at: later(now, recheckGapMs),
          })
          .execute()
      } catch (error) {
        // Another account took the name after the check above.
        if (databaseError(error)?.constraint === 'site_domain_held') throw new Refusal('conflict')
        throw error
      }
    }
  }

  /** Has the server take its new names, and certificates issued for them. */
  async function tellServer(tx: Tx, siteId: string): Promise<void> {
    await deps.jobs.add(tx, ensureJob, { siteId })
    await deps.jobs.add(tx, certifySiteJob, { siteId })
  }

  defineRecheck({ ...deps, evidence })

  return {
    async standing(name) {
      const held = await holderOf(db, name)
      if (!held) return { is: 'gone' }
      const { answered, pointed, records } = await evidence(name, held.customerId, held.siteName)
      if (!answered) return { is: 'unknown' }
      await db.updateTable('site_domain').set({ pointed }).where('id', '=', held.id).execute()
      if (pointed && held.verified) return { is: 'ready' }
      return {
        is: 'elsewhere',
        found: records.filter(({ points }) => points).flatMap(({ found }) => found),
      }
    },
    async check({ customerId, siteName, name, language }) {
      const read = readHostName(name, own)
      if (read === undefined) throw wrong('domain_form', language)
      const { verified, pointed, records } = await evidence(read, customerId, siteName)
      return { name: read, verified, pointed, records }
    },

    async update({ customerId, siteId, siteName, list, language }) {
      const wanted = list.map((name) => readHostName(name, own))
      if (wanted.some((name) => name === undefined)) throw wrong('domain_form', language)
      const names = new Set(wanted.filter((name) => name !== undefined))
      const before = await heldNames(db, siteId)
      // Another browser tab added a name that this request does not know of.
      if (before.some((name) => !names.has(name))) throw new Refusal('conflict')
      const fresh = [...names].filter((name) => !before.includes(name))
      const proven = new Map<string, Proven>()
      for (const name of fresh) {
        const elsewhere = await db
          .selectFrom('site_domain')
          .select('id')
          .where('name', '=', name)
          .where('customer_id', '=', customerId)
          .where('released_at', 'is', null)
          .executeTakeFirst()
        if (elsewhere) throw wrong('domain_taken', language)
        const found = await evidence(name, customerId, siteName)
        if (found.proof === null)
          throw new Refusal('domain_not_verified', {
            fields: { domains: evidenceText(found, language) },
          })
        proven.set(name, { ...found, proof: found.proof })
      }
      return await transaction(db, async (tx) => {
        // The names may have changed during the DNS queries.
        await lockTaker(tx, siteId, customerId)
        if ((await heldNames(tx, siteId)).some((name) => !names.has(name)))
          throw new Refusal('conflict')
        await assignNames(tx, { siteId, customerId, proven })
        if (proven.size > 0) await tellServer(tx, siteId)
        onCommit(tx, deps.onChange)
        return await heldNames(tx, siteId)
      })
    },

    async adopt(tx, { siteId, customerId, names }) {
      await lockTaker(tx, siteId, customerId)
      if (names.length === 0) return
      const held = await tx
        .selectFrom('site_domain')
        .select(['name', 'site_id'])
        .where('name', 'in', [...names])
        .where('customer_id', '=', customerId)
        .where('released_at', 'is', null)
        .execute()
      // A name of another server of the same customer moves to this one.
      const moving = held.filter((one) => one.site_id !== siteId)
      for (const { name, site_id: from } of moving) {
        await tx
          .updateTable('site_domain')
          .set({ released_at: clock.now() })
          .where('name', '=', name)
          .where('site_id', '=', from)
          .where('released_at', 'is', null)
          .execute()
        await tellServer(tx, from)
      }
      const fresh = names.filter(
        (name) => !held.some((one) => one.name === name && one.site_id === siteId),
      )
      await assignNames(tx, {
        siteId,
        customerId,
        proven: new Map(
          fresh.map((name) => [
            name,
            { proof: ownZone, pointed: true, displaces: null, challenge: null },
          ]),
        ),
      })
      // A name that the server had already may have been proven otherwise, or no longer be proven.
      await tx
        .updateTable('site_domain')
        .set({ verified: true, proof: ownZone, pointed: true, checked_at: clock.now() })
        .where('site_id', '=', siteId)
        .where('name', 'in', [...names])
        .where('released_at', 'is', null)
        .execute()
      if (fresh.length > 0) await tellServer(tx, siteId)
      onCommit(tx, deps.onChange)
    },

    async remove({ siteId, customerId, name }) {
      return await transaction(db, async (tx) => {
        await lockOwnSite(tx, siteId, customerId)
        const { numUpdatedRows } = await tx
          .updateTable('site_domain')
          .set({ released_at: clock.now() })
          .where('site_id', '=', siteId)
          .where('name', '=', name.toLowerCase())
          .where('released_at', 'is', null)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) throw new Refusal('not_found')
        await tx
          .updateTable('site')
          .set({ primary_host: null })
          .where('id', '=', siteId)
          .where('primary_host', '=', name.toLowerCase())
          .execute()
        await tellServer(tx, siteId)
        onCommit(tx, deps.onChange)
        return await heldNames(tx, siteId)
      })
    },
  }
}
