/**
 * One order with one authority, from the account to the chain. An interrupted run's order is
 * continued by the next run: its address and key were stored before the authority was told to
 * validate.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Secrets } from '../platform/secrets.ts'
import {
  AcmeProblem,
  openAcme,
  type AcmeAuthorization,
  type AcmeClient,
  type AcmeOrder,
  type Read,
} from './acme/client.ts'
import { thumbprint, type ExternalAccount } from './acme/jws.ts'
import { certificateRequest, newKey, readChain, renewalId, type Issued } from './acme/x509.ts'
import type { OrderLimits } from './limits.ts'
import { foundWhenLooking, NotIssued, ShareUsedUp } from './problems.ts'
import { noOrder, update, type CertificateRow } from './store.ts'
import { leftFor } from './turns.ts'

/** A certificate authority that speaks ACME. */
export interface Authority {
  readonly directory: string
  readonly binding: ExternalAccount | undefined
}

/** The places that an authority queries. */
export interface ChallengePlaces {
  /** HTTP: the edges' response for the host. */
  readonly edge: {
    challenge(of: { token: string; host: string; answer: string }): Promise<void>
    dropChallenge(token: string): Promise<void>
  }
  /** DNS: zones that our name server serves. */
  readonly dns: {
    serves(host: string): Promise<boolean>
    put(host: string, value: string): Promise<boolean>
    drop(host: string, value: string): Promise<void>
  }
}

export interface OrderDeps extends ChallengePlaces {
  readonly db: Database
  readonly clock: Clock
  readonly secrets: Secrets
  readonly limits: OrderLimits
  readonly contact: string | undefined
  readonly times?: Partial<OrderTimes>
}
export interface OrderTimes {
  /** Time limit of one call to an authority, ms. */
  readonly callMs: number
  /** Time limit of one order, ms. */
  readonly orderMs: number
}
const defaultTimes: OrderTimes = { callMs: 20_000, orderMs: 120_000 }

/**
 * Pauses between two queries whether an authority is done, ms: they grow from the first to the
 * last.
 */
const [firstPauseMs, longestPauseMs] = [250, 5_000]

const accountPurpose = 'acme-account-key'
export const keyPurpose = 'certificate-key'

export interface Ordering {
  /**
   * The chain for the name, and its sealed key. Throws NotIssued, ShareUsedUp, AcmeProblem or
   * DriverFailure.
   */
  order(
    row: CertificateRow,
    authority: Authority,
    signal: AbortSignal,
  ): Promise<Issued & { readonly keySealed: Buffer }>
  /** The time in which the issuing authority wants the present certificate renewed. */
  renewalWindow(
    row: CertificateRow,
  ): Promise<{ readonly start: Date; readonly end: Date; readonly waitMs?: number } | undefined>
}

export function createOrdering(deps: OrderDeps): Ordering {
  const { db, secrets } = deps
  const times = { ...defaultTimes, ...deps.times }
  const clients = new Map<string, { readonly client: AcmeClient; readonly keyPem: string }>()

  /** The client with the account's key, which is created at the first call. */
  async function open(
    directory: string,
  ): Promise<{ readonly client: AcmeClient; readonly keyPem: string }> {
    const known = clients.get(directory)
    if (known) return known
    await db
      .insertInto('acme_account')
      .values({ directory, key_sealed: secrets.seal(accountPurpose, newKey()) })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const { key_sealed: sealed } = await db
      .selectFrom('acme_account')
      .select('key_sealed')
      .where('directory', '=', directory)
      .executeTakeFirstOrThrow()
    const keyPem = secrets.open(accountPurpose, sealed)
    const opened = { client: openAcme(directory, keyPem, times.callMs), keyPem }
    clients.set(directory, opened)
    return opened
  }
  const writeAccount = (directory: string, url: string | null): Promise<unknown> =>
    db.updateTable('acme_account').set({ url }).where('directory', '=', directory).execute()

  async function accountOf({ directory, binding }: Authority): Promise<string> {
    const { client } = await open(directory)
    const kept = await db
      .selectFrom('acme_account')
      .select('url')
      .where('directory', '=', directory)
      .executeTakeFirst()
    if (kept?.url !== null && kept?.url !== undefined) return kept.url
    if (!binding && (await client.needsBinding()))
      throw new NotIssued('account', 'the authority wants an external account: set its EAB keys')
    const url = await client.account({ contact: deps.contact, binding })
    await writeAccount(directory, url)
    return url
  }

  /** Polls until `isOver` holds; throws NotIssued unavailable if that takes too long. */
  async function until<T>(
    ask: () => Promise<Read<T>>,
    isOver: (value: T) => boolean,
    deadline: number,
    signal: AbortSignal,
  ): Promise<T> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.6)) {
      const { value, waitMs } = await ask()
      if (isOver(value)) return value
      const next = Math.max(pauseMs, Math.min(waitMs ?? 0, longestPauseMs))
      if (performance.now() + next > deadline)
        throw new NotIssued('unavailable', 'the authority did not finish in time')
      await sleep(next, signal)
    }
  }

  /** Makes the authority validate one name, and waits for its result. */
  async function prove(
    of: { readonly row: CertificateRow; readonly authority: Authority; readonly account: string },
    url: string,
    deadline: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, keyPem } = await open(of.authority.directory)
    const { value: authorization } = await client.authorization(of.account, url)
    if (authorization.status === 'valid') return
    const host = authorization.identifier.value
    const withdraw = await answerChallenge(authorization, of.row, keyPem)
    try {
      const chosen = authorization.challenges.find(({ type }) => type === withdraw.type)
      if (chosen?.status === 'pending') await client.begin(of.account, chosen.url)
      const looked = await until(
        () => client.authorization(of.account, url),
        ({ status }) => status !== 'pending',
        deadline,
        signal,
      )
      if (looked.status === 'valid') return
      throw foundWhenLooking(looked.challenges.find(({ error }) => error !== undefined)?.error)
    } finally {
      await withdraw.drop(host)
    }
  }

  /** Puts the answer where the authority will query it. */
  async function answerChallenge(
    { challenges, identifier: { value: host } }: AcmeAuthorization,
    row: CertificateRow,
    keyPem: string,
  ): Promise<{ readonly type: string; drop(host: string): Promise<void> }> {
    const tokenOf = (type: string): string | undefined =>
      challenges.find(
        (one) => one.type === type && (one.status === 'pending' || one.status === 'processing'),
      )?.token
    const [byDns, byHttp] = [tokenOf('dns-01'), tokenOf('http-01')]
    // If one method failed, the next try uses the other.
    const prefersHttp = byHttp !== undefined && row.attempts % 2 === 1
    if (byDns !== undefined && !prefersHttp && (await deps.dns.serves(host))) {
      const answer = `${byDns}.${thumbprint(keyPem)}`
      const value = createHash('sha256').update(answer).digest('base64url')
      if (await deps.dns.put(host, value))
        return { type: 'dns-01', drop: (host) => deps.dns.drop(host, value) }
    }
    if (byHttp === undefined)
      throw new NotIssued('zone_elsewhere', `our name servers do not answer for ${host}`)
    await deps.edge.challenge({
      token: byHttp,
      host,
      answer: `${byHttp}.${thumbprint(keyPem)}`,
    })
    return { type: 'http-01', drop: () => deps.edge.dropChallenge(byHttp) }
  }

  /** The order that an earlier run left, if it can still be used; otherwise a new one. */
  async function begin(
    row: CertificateRow,
    authority: Authority,
    account: string,
  ): Promise<{ url: string; order: AcmeOrder; keySealed: Buffer }> {
    const { client } = await open(authority.directory)
    const { directory } = authority
    if (row.order_directory === directory && row.order_url !== null && row.order_key_sealed)
      try {
        const { value } = await client.order(account, row.order_url)
        if (value.status !== 'invalid')
          return { url: row.order_url, order: value, keySealed: row.order_key_sealed }
      } catch (error) {
        // The authority forgot the order, or the account that made it.
        if (!(error instanceof AcmeProblem)) throw error
      }
    const isRenewal = row.chain !== null
    const { name, customer_id: customerId } = row
    const asked = { directory, name, isRenewal, customerId }
    if (
      !isRenewal &&
      customerId !== null &&
      leftFor(customerId, await deps.limits.asked(directory)) === 0
    )
      throw new ShareUsedUp()
    const freeAt = await deps.limits.freeAt(asked)
    if (freeAt)
      throw new NotIssued(
        'rate_limited',
        'as many certificates were asked for as the authority allows',
        freeAt.getTime() - deps.clock.now().getTime(),
      )
    await deps.limits.count(asked)
    const replaces =
      row.chain !== null && row.directory === directory ? renewalId(row.chain) : undefined
    const names = [row.name]
    const made = await client.newOrder(account, { names, replaces }).catch((error: unknown) => {
      // The authority does not know the certificate to replace, or it was replaced before.
      if (!(error instanceof AcmeProblem) || replaces === undefined) throw error
      if (!['alreadyReplaced', 'malformed'].includes(error.type)) throw error
      return client.newOrder(account, { names })
    })
    const keySealed = secrets.seal(keyPurpose, newKey())
    await update(db, row.id, {
      order_directory: directory,
      order_url: made.url,
      order_key_sealed: keySealed,
    })
    return { ...made, keySealed }
  }

  async function orderWith(
    row: CertificateRow,
    authority: Authority,
    account: string,
    signal: AbortSignal,
  ): Promise<Issued & { readonly keySealed: Buffer }> {
    const { client } = await open(authority.directory)
    const deadline = performance.now() + times.orderMs
    const { url, order, keySealed } = await begin(row, authority, account)
    const keyPem = secrets.open(keyPurpose, keySealed)
    let present = order
    if (present.status === 'pending') {
      for (const one of present.authorizations)
        await prove({ row, authority, account }, one, deadline, signal)
      present = await until(
        () => client.order(account, url),
        ({ status }) => status !== 'pending',
        deadline,
        signal,
      )
    }
    if (present.status === 'ready') {
      const request = certificateRequest(keyPem, [row.name])
      present = (await client.finalize(account, present.finalize, request)).value
    }
    if (present.status === 'processing' || present.status === 'ready')
      present = await until(
        () => client.order(account, url),
        ({ status }) => status !== 'processing' && status !== 'ready',
        deadline,
        signal,
      )
    if (present.status !== 'valid' || present.certificate === undefined) {
      await update(db, row.id, noOrder)
      throw foundWhenLooking(present.error)
    }
    const chain = await client.certificate(account, present.certificate)
    return { ...readChain(chain, keyPem, [row.name]), keySealed }
  }

  return {
    async order(row, authority, signal) {
      try {
        return await orderWith(row, authority, await accountOf(authority), signal)
      } catch (error) {
        // An authority that was set up anew knows no account: create it again with the same key.
        const isUnknown = error instanceof AcmeProblem && error.type === 'accountDoesNotExist'
        if (!isUnknown) throw error
        await writeAccount(authority.directory, null)
        return await orderWith(row, authority, await accountOf(authority), signal)
      }
    },
    async renewalWindow({ chain, directory }) {
      const id = chain === null ? undefined : renewalId(chain)
      if (id === undefined || directory === null) return undefined
      return await (await open(directory)).client.renewalWindow(id)
    },
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}
