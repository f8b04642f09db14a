/** Tickets: the objects that they may name, and the addresses of their letters. */
import { customerOfMailbox } from './auth/index.ts'
import { invoiceName } from './billing/index.ts'
import { domainName } from './dns/index.ts'
import { paymentName } from './payments/index.ts'
import type { DnsLookup } from './platform/dns-lookup.ts'
import type { Http } from './platform/http.ts'
import type { Limits } from './platform/limits.ts'
import type { Log } from './platform/log.ts'
import type { Config } from './config.ts'
import { networkOf } from './platform/network.ts'
import type { SmtpListener } from './platform/smtp-listener.ts'
import type { Secrets } from './platform/secrets.ts'
import * as tickets from './tickets/index.ts'
import { serverName } from './wordpress/index.ts'

export const ticketObjects: tickets.ObjectNames = {
  server: serverName,
  domain: domainName,
  invoice: invoiceName,
  payment: paymentName,
}

/** Null: the operator has named no support address. */
export const replyAddressesOf = (
  config: Pick<Config, 'SUPPORT_MAIL'>,
  secrets: Pick<Secrets, 'derive'>,
): tickets.ReplyAddresses | null =>
  config.SUPPORT_MAIL === undefined
    ? null
    : tickets.createReplyAddresses(config.SUPPORT_MAIL, secrets.derive('support-mail'))

/** The default if the operator sets none. */
const usualPort = 8026
export const supportListensOn = (
  config: Pick<Config, 'HOST' | 'SUPPORT_MAIL_PORT'>,
): { host: string; port: number } => ({
  host: config.HOST,
  port: config.SUPPORT_MAIL_PORT ?? usualPort,
})

type RouteDeps = Parameters<typeof tickets.routes>[1]

/**
 * Serves tickets; answers the dependencies of the desk's acts, and the mail listener if letters are
 * accepted.
 */
export function customerTickets(
  http: Http,
  config: Parameters<typeof replyAddressesOf>[0] &
    Parameters<typeof supportListensOn>[0] &
    Pick<Config, 'MAIL_FROM' | 'ROLES'>,
  deps: Omit<RouteDeps, 'objects' | 'opened' | 'written' | 'uploaded' | 'addresses'> & {
    readonly log: Log
    readonly limits: Limits
    readonly secrets: Pick<Secrets, 'derive'>
    readonly lookup: Pick<DnsLookup, 'txt'>
  },
): { readonly deps: tickets.TicketDeps; readonly letters: SmtpListener | null } {
  const { limits, log, lookup } = deps
  const addresses = replyAddressesOf(config, deps.secrets)
  const needs: RouteDeps = {
    ...deps,
    addresses,
    objects: ticketObjects,
    opened: limits.limit('ticket-opened'),
    written: limits.limit('ticket-written'),
    uploaded: limits.limit('ticket-file'),
  }
  tickets.routes(http, needs)
  if (addresses === null || !config.ROLES.has('worker')) return { deps: needs, letters: null }
  const intake: tickets.IntakeDeps = {
    ...needs,
    log,
    addresses,
    texts: (name) => lookup.txt(name),
    customerOfMailbox,
    own: new Set([/[^\s<]+@[^\s>]+/.exec(config.MAIL_FROM)?.[0].toLowerCase() ?? '']),
    fromSender: limits.limit('ticket-letter'),
    intoTicket: limits.limit('ticket-answer'),
  }
  const ofNetwork = limits.limit('ticket-letter-network')
  const letters = tickets.createLetterListener({
    log,
    addresses,
    listenOn: supportListensOn(config),
    admit: (ip) => ofNetwork.take(networkOf(ip)),
    take: ({ ip, ...letter }) => tickets.takeLetter(intake, { ...letter, network: networkOf(ip) }),
  })
  return { deps: needs, letters }
}
