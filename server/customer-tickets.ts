/** Tickets: what they may be about, and whom their letters reach. */
import { invoiceName } from './billing/index.ts'
import { domainName } from './dns/index.ts'
import { paymentName } from './payments/index.ts'
import type { Http } from './platform/http.ts'
import type { Limits } from './platform/limits.ts'
import type { Config } from './config.ts'
import type { Secrets } from './platform/secrets.ts'
import * as tickets from './tickets/index.ts'
import { serverName } from './wordpress/index.ts'

export const ticketObjects: tickets.ObjectNames = {
  server: serverName,
  domain: domainName,
  invoice: invoiceName,
  payment: paymentName,
}

/** Null where the operator has named no address for the support. */
export const replyAddressesOf = (
  config: Pick<Config, 'SUPPORT_MAIL'>,
  secrets: Pick<Secrets, 'derive'>,
): tickets.ReplyAddresses | null =>
  config.SUPPORT_MAIL === undefined
    ? null
    : tickets.createReplyAddresses(config.SUPPORT_MAIL, secrets.derive('support-mail'))

type RouteDeps = Parameters<typeof tickets.routes>[1]

/** Serves them; answers what the desk's acts on tickets need. */
export function customerTickets(
  http: Http,
  deps: Omit<RouteDeps, 'objects' | 'opened' | 'written' | 'uploaded'> & {
    readonly limits: Limits
  },
): tickets.TicketDeps {
  const { limits } = deps
  const needs: RouteDeps = {
    ...deps,
    objects: ticketObjects,
    opened: limits.limit('ticket-opened', 20, 3600),
    written: limits.limit('ticket-written', 60, 3600),
    uploaded: limits.limit('ticket-file', 40, 3600),
  }
  tickets.routes(http, needs)
  return needs
}
