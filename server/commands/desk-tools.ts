/** What the commands about the operator's desk need: everything that acts need. */
import { createAccountActs, letterAddress, showCustomers } from '../auth/index.ts'
import { languageOfRegion } from '../catalog/index.ts'
import type { Config } from '../config.ts'
import { createEndPrograms } from '../customer-programs.ts'
import { endTeam } from '../customer-team.ts'
import { replyAddressesOf, ticketObjects } from '../customer-tickets.ts'
import { createOutbox } from '../messages/index.ts'
import type { PerformNeeds } from '../operator/index.ts'
import type { Database, Queryable } from '../platform/db.ts'
import { createEventOutbox, revokeSessions } from '../realtime/index.ts'
import { createInvitations } from '../staff/index.ts'
import { openPaymentTools } from './payment-tools.ts'

export interface DeskTools extends PerformNeeds {
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
  const outbox = createOutbox({ jobs, clock, secrets })
  return {
    ...tools,
    again: outbox.again,
    tickets: {
      clock,
      outbox: createEventOutbox(clock, () => undefined),
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
    accounts: createAccountActs({
      clock,
      endLive: revokeSessions,
      endPrograms: createEndPrograms(clock),
      endTeam,
    }),
    invitations: createInvitations({ db, clock, secrets, brandName, portalUrl }),
    customerMail,
    // Portals that run look for it by themselves.
    followCatalog: () => undefined,
    portalUrl,
    brandName,
    secondPersonAbove: config.OPERATOR_SECOND_PERSON_ABOVE,
  }
}
