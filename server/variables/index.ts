/** Every variable of the environment: its rule, its default, and what .env.example says of it. */
import { backupVariables } from './backups.ts'
import { certificateVariables } from './certificates.ts'
import { dnsVariables } from './dns.ts'
import { machineVariables } from './machine.ts'
import { messageVariables } from './messages.ts'
import { paymentVariables } from './payments.ts'
import { portalVariables } from './portal.ts'
import { siteVariables } from './sites.ts'

/** One row per variable: its schema and its text in .env.example. */
export const variables = {
  ...machineVariables,
  ...portalVariables,
  ...certificateVariables,
  ...dnsVariables,
  ...siteVariables,
  ...backupVariables,
  ...paymentVariables,
  ...messageVariables,
} as const
