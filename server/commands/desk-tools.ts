/** The dependencies of commands that perform the desk's acts. */
import { rolesThatMay } from '../../contract/staff-roles.ts'
import { createAccountActs, customersByIds, letterAddress, showCustomers } from '../auth/index.ts'
import { changeCreditLine, createDeskSubscriptions, createInvoiceLinks } from '../billing/index.ts'
import { currencyOf, languageOfRegion } from '../catalog/index.ts'
import type { Config } from '../config.ts'
import { calledBy, createEndPrograms } from '../customer-programs.ts'
import { endTeam } from '../customer-team.ts'
import { replyAddressesOf, ticketObjects } from '../customer-tickets.ts'
import { createOutbox } from '../messages/index.ts'
import { nodeKeysOf } from '../own-node.ts'
import type { ActNeeds } from '../operator/index.ts'
import type { Database, Queryable } from '../platform/db.ts'
import { createEventOutbox, revokeSessions } from '../realtime/index.ts'
import { createInvitations, emailsOf } from '../staff/index.ts'
import { printedPlace } from '../storefront/index.ts'
import { createOutgoingWebhooks, createSender } from '../webhooks/index.ts'
import { wordpressProduct } from '../wordpress/index.ts'
import { openPaymentTools } from './payment-tools.ts'

export interface DeskTools extends ActNeeds {
  readonly db: Database
  close(): Promise<void>
}

export async function openDeskTools(config: Config, databaseUrl: string): Promise<DeskTools> {
  const tools = await openPaymentTools(config, databaseUrl)
  const { db, clock, secrets, catalog, jobs } = tools
  const { portalUrl } = config
  const brandName = catalog.brand.name
  const customerMail = (of: Queryable, id: string) =>
    letterAddress(of, (region) => languageOfRegion(catalog, region), id)
  const supportMail = config.SUPPORT_MAIL ?? null
  const outbox = createOutbox({ jobs, clock, secrets, portalUrl, supportMail })
  // The running portal sends the events that are written here.
  const events = createEventOutbox(clock, () => undefined)
  return {
    ...tools,
    currencyOf: (region) => currencyOf(catalog, region),
    again: outbox.again,
    answerable: outbox.answerable,
    changeCreditLine: (tx, of) =>
      changeCreditLine(
        {
          ...tools,
          outbox: events,
          portalUrl,
          customers: async (from, ids) =>
            new Map(
              await Promise.all(ids.map(async (id) => [id, await customerMail(from, id)] as const)),
            ),
        },
        tx,
        of,
      ),
    subscriptions: createDeskSubscriptions(
      {
        ...tools,
        outbox: events,
        portalUrl,
        links: createInvoiceLinks(portalUrl, secrets.derive('invoice-links')),
        customers: (from, ids) =>
          customersByIds(
            from,
            { languageOf: (region) => languageOfRegion(catalog, region), printedPlace },
            ids,
          ),
      },
      [wordpressProduct(catalog, clock)],
    ),
    tickets: {
      clock,
      outbox: events,
      letter: outbox.letter,
      async customer(of, id) {
        const { name = '' } = (await showCustomers(of, [id])).get(id) ?? {}
        return { name, ...(await customerMail(of, id)) }
      },
      objects: ticketObjects,
      portalUrl,
      brandName,
      addresses: replyAddressesOf(config, secrets),
    },
    outbox: events,
    outgoing: createOutgoingWebhooks({
      ...calledBy(tools),
      clock,
      secrets,
      sender: createSender(tools),
      owners: (of) => emailsOf(of, rolesThatMay.outgoing),
      mail: tools.mail,
      portalUrl,
    }),
    accounts: createAccountActs({
      clock,
      endLive: revokeSessions,
      endPrograms: createEndPrograms(clock),
      endTeam,
    }),
    nodeKeys: nodeKeysOf({ secrets, clock }),
    invitations: createInvitations({ db, clock, secrets, brandName, portalUrl }),
    customerMail,
    // Running portals look for a newer version on their own.
    followCatalog: () => undefined,
    portalUrl,
    brandName,
    secondPersonAbove: config.OPERATOR_SECOND_PERSON_ABOVE,
  }
}
