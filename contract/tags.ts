/** The heading under which the API's document lists an endpoint: that of its file here. */
import * as account from './account.ts'
import * as auth from './auth.ts'
import * as billing from './billing.ts'
import * as cards from './cards.ts'
import * as dns from './dns.ts'
import * as dnsChanges from './dns-changes.ts'
import type { Endpoint } from './endpoint.ts'
import * as locks from './lock.ts'
import { acts as operatorActs } from './operator-acts.ts'
import * as operatorDesk from './operator-desk.ts'
import * as operatorMoney from './operator-money.ts'
import * as operator from './operator.ts'
import * as payments from './payments.ts'
import * as personalData from './personal-data.ts'
import * as registration from './registration.ts'
import * as secondFactors from './second-factor.ts'
import * as sessions from './session.ts'
import { noticesOfDesk } from './status.ts'
import * as tickets from './tickets.ts'
import * as deskTickets from './tickets-desk.ts'
import * as tokens from './tokens.ts'
import * as vouchers from './vouchers.ts'
import * as webhooks from './webhooks.ts'
import * as walletProof from './wallet-proof.ts'
import * as wallet from './wallet.ts'
import * as wordpressBackups from './wordpress-backups.ts'
import * as wordpressDomains from './wordpress-domains.ts'
import * as wordpressServer from './wordpress-server.ts'
import * as wordpress from './wordpress.ts'

const files: Readonly<Record<string, readonly object[]>> = {
  Account: [account, auth, locks, personalData, registration, secondFactors, sessions],
  Programs: [tokens, webhooks],
  Invoices: [billing],
  Wallet: [wallet, walletProof, payments, cards, vouchers],
  WordPress: [wordpress, wordpressBackups, wordpressDomains, wordpressServer],
  DNS: [dns, dnsChanges],
  Tickets: [tickets],
  operator: [operator, operatorActs, operatorDesk, operatorMoney, deskTickets, { noticesOfDesk }],
}
const tags = new Map<unknown, string>(
  Object.entries(files).flatMap(([tag, modules]) =>
    modules.flatMap((module) => Object.values(module).map((each) => [each, tag] as const)),
  ),
)

export const tagOf = (endpoint: Endpoint): string => tags.get(endpoint) ?? 'Portal'
