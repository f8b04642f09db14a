/**
 * How often something may be done within a time, s; beyond it the call is refused with
 * `rate_limited`. What is counted, an account, a network or a server, stands above each group. How
 * many calls of a caller may be under way at once is another rule (server/platform/http-caller.ts).
 */

export interface Rate {
  readonly attempts: number
  readonly seconds: number
}

const within =
  (seconds: number) =>
  (attempts: number): Rate => ({ attempts, seconds })
const aMinute = within(60)
const tenMinutes = within(10 * 60)
const aQuarterHour = within(15 * 60)
const anHour = within(3600)
const aDay = within(24 * 3600)

export const rateLimits = {
  // Of one network. Wrong passwords, whosever they are: a carrier's customers share one.
  'login-address': aQuarterHour(100),
  'staff-login': aQuarterHour(100),
  'sftp-sign-in': aQuarterHour(100),
  // Wrong codes, whosever they are: who sprays guesses over many accounts.
  'code-address': aQuarterHour(50),
  // Each reset costs a password's hash, and those that wait for one are few.
  reset: aQuarterHour(50),
  // The provider may set another number.
  registration: anHour(30),
  'passkey-options': aMinute(60),
  'staff-invitation': aQuarterHour(60),
  'voucher-network': anHour(60),
  'forged-notice': anHour(200),
  'ticket-letter-network': anHour(1000),

  // Of one account from one network. Wrong codes, so that new codes buy no more guesses.
  'code-account': aQuarterHour(10),
  // Codes that are sent; more in a day are about the cost of SMS, not about the account.
  'code-send': aMinute(1),
  'code-send-day': aDay(10),
  // Codes that one network asks for, for however many accounts.
  'code-send-network': anHour(60),
  // Codes for one account that unknown networks ask for: those of one wider network, and all
  // together. Beyond them no code is sent. The first is small, so that an attacker who rents a
  // block of addresses does not use up the second, on which a travelling owner depends as well.
  'code-send-wider': aDay(10),
  'code-send-strangers': aDay(300),

  // Of one token for programs.
  'token-call': aMinute(300),

  // Of one account.
  order: anHour(20),
  'domain-lookup': aMinute(60),
  'payment-begun': tenMinutes(300),
  'card-refused': anHour(10),
  voucher: anHour(10),
  'delegation-check': aMinute(30),
  'domain-claim': anHour(600),
  'mail-records': aMinute(60),
  'file-act': anHour(6_000),
  'ssh-key': anHour(60),
  'token-made': aDay(30),
  'webhook-wished': anHour(120),
  'ticket-opened': anHour(20),
  'ticket-written': anHour(60),
  'ticket-file': anHour(40),
  'team-invited': aDay(20),
  'team-look': anHour(60),
  'hand-over': aDay(20),
  'hand-over-look': anHour(60),
  // Each file has all that is known of a customer.
  'data-export': aDay(10),

  // Of one server.
  'admin-link': aMinute(20),
  purge: anHour(60),
  'php-settings': anHour(30),
  'site-command': anHour(60),
  'site-database': anHour(3_000),
  'certificate-retry': anHour(10),
  'site-update': anHour(30),
  backup: anHour(30),
  import: anHour(20),

  // Of one recipient, whoever writes.
  'team-invited-address': aDay(3),
  'hand-over-address': aDay(3),
  // SMS to one number, whichever accounts they are about.
  'sms-number': aDay(10),
  // Of one account: addresses and numbers that it asks to have, of which each answer says whether
  // somebody has it.
  'address-wish': aDay(20),
  // Of one account and name.
  'domain-claim-name': aDay(5),
  // Letters of one sender, and those that answer one ticket.
  'ticket-letter': anHour(20),
  'ticket-answer': anHour(40),
} as const satisfies Record<string, Rate>

export type RateLimited = keyof typeof rateLimits
