/**
 * The portal's interfaces for customers' programs: tokens with which they call it, and webhooks
 * with which it calls them.
 */
import { ownDomains } from './dns/index.ts'
import type { Http } from './platform/http.ts'
import type { Clock } from './platform/clock.ts'
import type { Tx } from './platform/db.ts'
import type { DnsLookup } from './platform/dns-lookup.ts'
import type { MayConnect } from './platform/judged-address.ts'
import type { Limits } from './platform/limits.ts'
import * as tokens from './tokens/index.ts'
import * as webhooks from './webhooks/index.ts'
import { ownServers } from './wordpress/index.ts'

/** Ends a customer's tokens, and switches the webhooks off; answers how many ended. */
export const createEndPrograms =
  (clock: Clock) =>
  async (tx: Tx, customerId: string): Promise<number> =>
    (await tokens.endTokens(tx, customerId)) +
    (await webhooks.pauseEndpoints(tx, clock, customerId))

type TokenDeps = Parameters<typeof tokens.routes>[1]
type WebhookDeps = Parameters<typeof webhooks.routes>[1]
type SendDeps = Parameters<typeof webhooks.defineSending>[0]

/** The addresses that webhooks may call: public ones, the sandbox's, and those that a test adds. */
export function calledBy({
  sandboxUrl,
  mayConnect: also,
}: {
  /**
   * The sandbox's address, which may be called too, also by plain http; null without the sandbox.
   */
  readonly sandboxUrl: string | null
  readonly mayConnect?: MayConnect | undefined
}) {
  const sandbox = sandboxUrl === null ? undefined : new URL(sandboxUrl)
  const mayConnect: MayConnect = (address, port) =>
    webhooks.publicHttps(address, port) ||
    (sandbox?.hostname === address && sandbox.port === String(port)) ||
    also?.(address, port) === true
  const readUrl = (typed: string): string | undefined =>
    webhooks.readReceiver(typed, { plain: sandbox !== undefined, mayConnect })
  return { mayConnect, readUrl }
}

/** Serves both APIs, and defines the jobs that send webhooks. */
export function customerPrograms(
  http: Http,
  deps: Omit<TokenDeps, 'ownServers' | 'ownDomains' | 'made'> &
    Omit<WebhookDeps, 'wished'> &
    Omit<SendDeps, 'receivers'> & {
      readonly limits: Limits
      readonly lookup: DnsLookup
      readonly mayConnect: MayConnect
      /** Longest time of one call of a webhook, ms; the product's own when not given. */
      readonly longestCallMs?: number | undefined
    },
): void {
  const { limits } = deps
  tokens.routes(http, {
    ...deps,
    ownServers,
    ownDomains,
    made: limits.limit('token-made'),
  })
  tokens.defineEndingLetters(deps)
  const receivers = webhooks.createReceivers(deps.lookup, deps.mayConnect, deps.longestCallMs)
  webhooks.defineSending({ ...deps, receivers }, deps.sender)
  webhooks.routes(http, {
    ...deps,
    wished: limits.limit('webhook-wished'),
  })
}
