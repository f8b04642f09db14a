/**
 * How many attempts are allowed within a number of seconds; beyond that the call is refused with
 * `rate_limited`. The comment above each group names what is counted: a network, an account, a
 * server. The limit of a caller's concurrent calls is separate (server/platform/http-caller.ts).
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
  // Per network. Wrong passwords for any account. The limit is high because a mobile carrier's
  // customers share one network.
  'login-address': aQuarterHour(100),
  'staff-login': aQuarterHour(100),
  'sftp-sign-in': aQuarterHour(100),
  // Wrong codes for any account: stops guesses spread over many accounts.
  'code-address': aQuarterHour(50),
  // Each reset costs a password hash, and only few may wait for one.
  reset: aQuarterHour(50),
  // The provider may set another number.
  registration: anHour(30),
  'passkey-options': aMinute(60),
  'staff-invitation': aQuarterHour(60),
  'voucher-network': anHour(60),
  'forged-notice': anHour(200),
  'ticket-letter-network': anHour(1000),

  // Per account and network. Wrong codes are counted across codes, so a new code allows no more
  // guesses.
  'code-account': aQuarterHour(10),
  // Codes that are sent. The daily limit bounds the cost of SMS; it does not protect the account.
  'code-send': aMinute(1),
  'code-send-day': aDay(10),
  // Codes that one network requests, for any number of accounts.
  'code-send-network': anHour(60),
  // Codes for one account that unknown networks request: per wider network, and in total. Beyond
  // the limit no code is sent. The first limit is small, so that an attacker who rents a block of
  // addresses does not use up the second, which a travelling owner needs as well.
  'code-send-wider': aDay(10),
  'code-send-strangers': aDay(300),

  // Per token for programs.
  'token-call': aMinute(300),

  // Per account.
  order: anHour(20),
  'domain-lookup': aMinute(60),
  'payment-begun': tenMinutes(300),
  'card-refused': anHour(10),
  voucher: anHour(10),
  'delegation-check': aMinute(30),
  'domain-claim': anHour(600),
  // Every change is kept for months. The first are single records: a program that keeps a name at a
  // changing address writes once a minute. The second write many at once: files, undone changes.
  'record-write': anHour(12_000),
  'records-write': anHour(300),
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
  // Each file contains all that is stored about a customer.
  'data-export': aDay(10),

  // Per server.
  'admin-link': aMinute(20),
  purge: anHour(60),
  'php-settings': anHour(30),
  'site-command': anHour(60),
  'site-database': anHour(3_000),
  'certificate-retry': anHour(10),
  'site-update': anHour(30),
  backup: anHour(30),
  import: anHour(20),

  // Per recipient, whoever sends.
  'team-invited-address': aDay(3),
  'hand-over-address': aDay(3),
  // SMS to one number, for any account.
  'sms-number': aDay(10),
  // Per account: addresses and numbers that it asks to change to, because each answer reveals
  // whether somebody has them.
  'address-wish': aDay(20),
  // Per account and name.
  'domain-claim-name': aDay(5),
  // Letters per sender, and letters per ticket.
  'ticket-letter': anHour(20),
  'ticket-answer': anHour(40),
} as const satisfies Record<string, Rate>

export type RateLimited = keyof typeof rateLimits
