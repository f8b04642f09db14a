/**
 * How long the rows of each table are kept, and why (decision 125): the one list. `dropOld` deletes
 * rows by the ages listed here; docs/retention.md is generated from it. A table that is missing
 * does not compile.
 */
import { actDays } from '../../contract/team.ts'
import { deliveriesKeptDays } from '../../contract/webhooks.ts'
import { days, later } from './clock.ts'
import type { DB } from './db-types.ts'

type Table = keyof DB

/** The purpose for which the rows are kept. */
export type Reason = 'law' | 'money' | 'use' | 'security' | 'machine'

/**
 * Rows are deleted once `column` is this many days old; with `only`, just those where another
 * column has one value.
 */
export interface Age<Column extends string = string> {
  readonly column: Column
  readonly days: number
  readonly only?: {
    readonly column: Column
    readonly is: string | null | typeof given
  }
  /** Rows per statement, for tables with large rows. */
  readonly rowsAtOnce?: number
}
/** The column has some value. */
export const given = Symbol('given')

export interface Retention<Column extends string = string> {
  readonly why: Reason
  /**
   * The ages by which the hourly job `tidy` (or the one that `text` names) deletes rows, in
   * batches.
   */
  readonly ages: readonly Age<Column>[]
  /** The end of rows without an age: with the thing they belong to, or never. */
  readonly end: 'event' | 'never'
  /** Why they are kept, and what ends them. */
  readonly text: string
}

const aged = <const Column extends string>(
  why: Reason,
  ages: Age<Column> | readonly Age<Column>[],
  text: string,
) => ({ why, ages: 'column' in ages ? [ages] : ages, end: 'event' as const, text })
const ends = (why: Reason, text: string) => ({ why, ages: [], end: 'event', text }) as const
const stays = (why: Reason, text: string) => ({ why, ages: [], end: 'never', text }) as const

/** An expired row. */
const expired = { column: 'expires_at' as const, days: 0 }

const books =
  'Accounting documents: Vietnam asks for ten years (Decree 174/2016), Australia for seven ' +
  '(Corporations Act, section 286). '
const withServer = 'Deleted with the server, or when its owner closes the account.'
const staysWithServer =
  'What was done to a server is read when a customer asks; it names no person. The row of the ' +
  'server stays too.'
const withAccount = 'Deleted when the customer ends it, or closes the account.'

export const retention = {
  // Customers and how they sign in.
  customer: ends(
    'law',
    'A registration that was never activated goes after a day. A closed account keeps its row ' +
      'without a person, for ledger, invoices and trail name it.',
  ),
  session: aged('use', expired, 'Until it ends.'),
  acting_session: aged('use', expired, 'Until it ends.'),
  auth_challenge: aged('use', expired, 'A sign-in that waits for its second factor: minutes.'),
  account_view: aged(
    'security',
    expired,
    'A view of the staff: an hour at most; the trail has it.',
  ),
  customer_import: {
    why: 'use',
    ages: [{ column: 'uploaded_at', days: 3, only: { column: 'started_at', is: null } }],
    end: 'never',
    text:
      'An upload that nobody imported goes after three days, the file of an import once it is ' +
      'done or has stopped. Its counts stay; they name no person.',
  },
  imported_customer: ends('use', 'Their id in another panel. Deleted with the account.'),
  former_address: ends('security', withAccount),
  known_origin: aged(
    'security',
    { column: 'seen_at', days: 90 },
    'Where an account was signed in from: whoever guesses elsewhere does not lock its owner out.',
  ),
  trusted_device: aged('use', expired, 'A device that is asked for no second factor: 30 days.'),
  sign_in: aged(
    'security',
    { column: 'at', days: 90 },
    'The owner sees who signed in. Deleted with the account.',
  ),
  sign_in_denial: aged('security', expired, 'The link in a letter of a new device: seven days.'),
  sign_in_failure: aged('security', expired, 'Counts wrong passwords; by hashes.'),
  one_time_code: aged(
    'security',
    { column: 'expires_at', days: 2 },
    'A registration is kept while a code was asked for within a day: codes stay a little longer.',
  ),
  code_failure: ends('security', 'Counts wrong codes. Deleted with the code.'),
  sms_slot: aged('money', { column: 'at', days: 1 }, 'Counts SMS to a number.'),
  sms_day: aged('money', { column: 'day', days: 7 }, 'Counts SMS to a country.'),
  totp: ends('security', withAccount),
  passkey: ends('security', withAccount),
  recovery_code: ends('security', withAccount),
  program_token: aged(
    'use',
    { column: 'expires_at', days: 30 },
    `Shown as expired for 30 days. ${withAccount}`,
  ),
  webhook_endpoint: ends('use', withAccount),
  webhook_delivery: aged(
    'use',
    { column: 'created_at', days: deliveriesKeptDays },
    'The customer sees what was sent, and has it sent again. Deleted with its endpoint.',
  ),
  webhook_subject: ends(
    'use',
    'Whom a delivery to the operator tells of. Deleted with it: when that customer closes the ' +
      'account, or, of one that waits, within an hour after it was sent or given up.',
  ),
  operator_event: ends('machine', 'Until the relay has made deliveries of it: seconds.'),
  notification: aged(
    'use',
    { column: 'created_at', days: 90, only: { column: 'seq', is: given } },
    'The bell is no archive: lists of invoices, entries and servers show what happened. An event ' +
      'that was not sent yet stays. Deleted with the account.',
  ),
  channel_grant: ends('machine', 'Until the session ends, or has a hundred newer ones.'),

  // Members of accounts, and hand-overs.
  team_member: ends('use', 'Until the member leaves or is removed, or either closes the account.'),
  team_invitation: aged('use', expired, 'Until it is accepted, withdrawn or expired.'),
  team_act: aged(
    'security',
    { column: 'at', days: actDays },
    'The owner sees what members did. Deleted with the account.',
  ),
  hand_over: aged(
    'law',
    [
      { column: 'accepted_at', days: 730 },
      { column: 'expires_at', days: 0, only: { column: 'accepted_at', is: null } },
    ],
    'Proves for two years who gave a server or domain to whom. An offer goes when it expires.',
  ),

  // Letters and tickets.
  message: aged(
    'use',
    { column: 'sent_at', days: 90 },
    'To whom a letter went. Its text goes once it is sent, and two weeks after it was written at ' +
      'the latest. What could not be sent stays on the list of failures. Deleted with the account.',
  ),
  message_kept: aged(
    'use',
    { column: 'kept_until', days: 0 },
    'The sealed text of a letter that can be sent again: seven days.',
  ),
  ticket: aged(
    'use',
    { column: 'closed_at', days: 730 },
    'Closed after 30 quiet days, deleted two years later, or with the account.',
  ),
  ticket_message: ends('use', 'Deleted with its ticket.'),
  ticket_file: aged(
    'use',
    {
      column: 'created_at',
      days: 1,
      only: { column: 'message_id', is: null },
      rowsAtOnce: 200,
    },
    'An upload without a message goes after a day, the content of a file 180 days after its ' +
      'ticket was closed, the row with the ticket.',
  ),
  canned_answer: ends('use', 'Texts of the staff, until one deletes them.'),

  data_request: aged(
    'law',
    { column: 'decided_at', days: 1095 },
    'Proves for three years that a request about personal data was answered in time. Its words ' +
      'go when the account is closed.',
  ),

  // Money.
  ledger_account: stays('law', `${books}The chain of a wallet proves every entry.`),
  ledger_transfer: stays('law', `${books}Names invoices and payments, and no person.`),
  ledger_entry: stays('law', `${books}Each is chained to the one before.`),
  ledger_check: stays('machine', 'One row: how the last check ended.'),
  ledger_checked: stays('machine', 'One row an account: up to where it was found whole.'),
  wallet_debt: stays('law', books),
  credit_line: ends('use', 'Until the operator ends it, or the account is closed.'),
  invoice: stays('law', `${books}The buyer stands on it, also after the account is closed.`),
  invoice_line: stays('law', books),
  invoice_counter: stays('law', 'Numbers have no gap.'),
  subscription: stays('law', `${books}Says what an invoice was for.`),
  coupon: stays('money', 'Invoices show what it took off.'),
  coupon_use: ends('money', 'Counts its uses. Deleted when the order lapses.'),
  voucher: stays('money', 'A code that was worth money is never good twice.'),
  voucher_use: stays('law', books),
  runway_warning: ends('use', 'Deleted when the wallet is filled.'),
  payment: stays('law', `${books}The network address goes when the account is closed.`),
  payment_refund: stays('law', books),
  payment_reversal: stays('law', books),
  payment_dispute: stays('law', books),
  payment_dispute_answer: stays('law', books),
  payment_suspense: stays('law', `${books}Money that fits no order keeps its text.`),
  payment_reversal_unmatched: ends('money', 'Deleted once it is matched.'),
  payment_comparison: stays('money', 'How the books were compared with a gateway’s.'),
  payment_difference: stays('money', 'What differed, and how it was settled.'),
  payment_notice: aged(
    'money',
    { column: 'received_at', days: 30, only: { column: 'outcome', is: 'forged' } },
    'What a gateway said proves a payment, and stays. Anybody can send forged ones.',
  ),
  gateway_payout: stays('law', books),
  gateway_payout_line: stays('law', books),
  auto_top_up: ends('use', 'Until the customer switches it off, or closes the account.'),
  auto_top_up_charge: stays('law', `${books}Says that a payment was made automatically.`),
  card_customer: ends('use', 'Deleted with the last card, or when the account is closed.'),

  // Servers.
  site: stays('law', 'Subscriptions and invoices name it. Passwords go with the server.'),
  site_domain: stays('security', 'Who proved a name, and until when.'),
  site_command: aged(
    'security',
    { column: 'began_at', days: 90 },
    `Owners see what was typed. ${withServer}`,
  ),
  site_database_access: ends('use', 'Minutes. Deleted with the session.'),
  log_ticket: ends('use', 'A minute. Deleted when the next one is made.'),
  site_ssh_key: ends('use', withServer),
  site_import: stays(
    'use',
    'Where a site came from is forgotten when its owner closes the account.',
  ),
  site_import_piece: ends('use', 'Deleted when the import ends.'),
  site_backup: ends(
    'use',
    'As many as BACKUP_RETENTION says; of a deleted server for ' +
      'BACKUP_RETENTION_AFTER_DELETION_DAYS.',
  ),
  site_restore: ends('use', 'Deleted with its backup.'),
  site_rewrite: ends('use', withServer),
  site_mirror: ends('use', 'Deleted with the copy on the other node.'),
  site_move: stays('use', staysWithServer),
  site_update: stays('use', staysWithServer),
  site_software: stays('use', 'What a server has, or had, installed; names no person.'),
  site_usage: aged(
    'use',
    [
      { column: 'at', days: 2, only: { column: 'minutes', is: '5' } },
      { column: 'at', days: 15, only: { column: 'minutes', is: '60' } },
      { column: 'at', days: 91, only: { column: 'minutes', is: '1440' } },
    ],
    'Ever more coarsely: five minutes, hours, days. By the job that sums them up.',
  ),
  site_letter: aged(
    'use',
    { column: 'created_at', days: 30 },
    `The owner sees what a site sent. ${withServer}`,
  ),
  site_mail: ends('use', 'Deleted with its letter.'),
  site_mail_key: ends('use', withServer),
  site_mail_setting: ends('use', withServer),
  site_mail_suppressed: aged(
    'use',
    { column: 'until', days: 0 },
    `Who is not written to: 30 days at most. ${withServer}`,
  ),
  site_placement: ends('machine', 'Where a server runs. Deleted with it.'),
  site_orphan: ends('machine', 'Deleted once the machine has removed it.'),
  site_change: aged('machine', { column: 'at', days: 1 }, 'Tells other processes what changed.'),
  host: ends('machine', 'A host name that is served. Deleted when it is released.'),
  host_change: aged('machine', { column: 'at', days: 1 }, 'Tells other processes what changed.'),
  node: ends('machine', 'Until a member removes the machine.'),
  node_join: stays('security', 'Which machine joined by which invitation.'),
  software_release: stays('machine', 'What the directory offers: one row a release.'),
  update_wave: stays('use', 'How an update went; names no person.'),

  // Domains and certificates.
  dns_zone: stays('security', 'Who had a domain, and until when. Its name stays.'),
  dns_record: ends('use', 'Deleted with the record or its domain.'),
  dns_change: aged(
    'use',
    {
      column: 'at',
      days: 90,
      only: { column: 'is_surplus', is: 'true' },
      rowsAtOnce: 500,
    },
    'Owners undo by it, and name servers catch up from it. The newest hundred of a domain stay ' +
      'longer. Deleted with the domain, or when the account is closed.',
  ),
  dns_served: stays('machine', 'A view: what is answered. It has no rows of its own.'),
  dns_challenge: ends('machine', 'Two days, by the job tidy.'),
  dns_account_pair: stays('machine', 'Which name servers an account gets.'),
  certificate: ends('use', 'Deleted, with its key, when the name is released.'),
  acme_account: stays('machine', 'The key at an authority.'),
  acme_order: aged('machine', { column: 'at', days: 8 }, 'Counts what an authority allows a week.'),
  site_https: stays('use', 'What the owner of a site chose; names no person.'),

  // The operator's desk.
  staff: stays('law', 'The trail names them. A member who leaves is disabled.'),
  staff_invitation: stays('security', 'Who let whom in.'),
  staff_session: aged(
    'security',
    { column: 'expires_at', days: 90 },
    'Who of the staff was there.',
  ),
  operator_act: stays(
    'law',
    'The trail is chained, and a row that went would break it. What is personal in it goes by ' +
      'salted hashes when the account is closed.',
  ),
  operator_act_head: stays('law', 'One row: the newest act.'),
  operator_proposal: stays('law', 'What a second member approved. Emptied with the account.'),
  customer_note: ends('use', 'Deleted when the account is closed.'),
  customer_label: ends('use', 'Deleted when the account is closed.'),
  status_notice: stays('use', 'The history of the status page.'),
  status_update: stays('use', 'Deleted with its notice only.'),
  catalog_version: stays('law', 'Says at which price something was sold.'),
  catalog_publication: stays('law', 'Says who changed what is sold, when and why.'),

  // The machine.
  idempotency: aged('machine', { column: 'created_at', days: 1 }, 'Answers a retried call.'),
  idempotency_action: aged('machine', { column: 'created_at', days: 1 }, 'Answers a retried call.'),
  rate_limit: ends('machine', 'Counts calls, by hashes. Deleted by the job tidy once expired.'),
  clock_offset: stays('machine', 'One row, in portals with the sandbox.'),
  installation: stays('machine', 'One row.'),
  catalog_file: stays('machine', 'One row for each file that a portal was started with.'),
  root_secret: stays('machine', 'One row.'),
  schema_migration: stays('machine', 'One row a migration.'),
  portal_backup: stays('machine', 'One row: the last backup of the portal.'),
} as const satisfies { readonly [T in Table]: Retention<keyof DB[T] & string> }

/** Tables whose rows are deleted by age. */
export type AgedTable = {
  [T in Table]: (typeof retention)[T]['ages'] extends readonly [] ? never : T
}[Table]

/** The ages of a table. */
export const agesOf = (table: AgedTable): readonly Age[] => retention[table].ages

/** How long a row is kept, ms; `is`: for rows whose other column has this value. */
export function keptMs(table: AgedTable, is?: string): number {
  const age = agesOf(table).find(({ only }) => is === undefined || only?.is === is)
  if (!age) throw new Error(`${table} has no age for ${is}`)
  return days(age.days)
}

/** Rows from before this moment are past their retention. */
export const keptSince = (table: AgedTable, now: Date): Date => later(now, -keptMs(table))
