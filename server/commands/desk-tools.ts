/** What the commands about the operator's desk need: everything that acts need. */
import { createAccountActs, letterAddress } from '../auth/index.ts'
import { languageOfRegion } from '../catalog/index.ts'
import type { Config } from '../config.ts'
import { createEndPrograms } from '../customer-programs.ts'
import type { PerformNeeds } from '../operator/index.ts'
import type { Database } from '../platform/db.ts'
import { revokeSessions } from '../realtime/index.ts'
import { createInvitations } from '../staff/index.ts'
import { openPaymentTools } from './payment-tools.ts'

export interface DeskTools extends PerformNeeds {
  readonly db: Database
  close(): Promise<void>
}

export async function openDeskTools(config: Config, databaseUrl: string): Promise<DeskTools> {
  const tools = await openPaymentTools(config, databaseUrl)
  const { db, clock, secrets, catalog } = tools
  const { portalUrl } = config
  const brandName = catalog.brand.name
  return {
    ...tools,
    accounts: createAccountActs({
      clock,
      endLive: revokeSessions,
      endPrograms: createEndPrograms(clock),
    }),
    invitations: createInvitations({ db, clock, secrets, brandName, portalUrl }),
    customerMail: (tx, id) => letterAddress(tx, (region) => languageOfRegion(catalog, region), id),
    portalUrl,
    brandName,
    secondPersonAbove: config.OPERATOR_SECOND_PERSON_ABOVE,
  }
}
