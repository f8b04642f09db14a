/** Which module of server/ writes which table. Everything else that touches a table is named. */

export const owners: Readonly<Record<string, readonly string[]>> = {
  platform: ['idempotency', 'idempotency_action', 'rate_limit', 'root_secret', 'schema_migration'],
  'installation.ts': ['installation'],
  commands: ['clock_offset'],
  auth: [
    'code_failure',
    'customer',
    'known_origin',
    'one_time_code',
    'session',
    'sign_in',
    'sign_in_failure',
    'sms_day',
    'sms_slot',
  ],
  messages: ['message'],
  certificates: ['acme_account', 'acme_order', 'certificate', 'site_https'],
  'portal-backup': ['portal_backup'],
  realtime: ['channel_grant', 'notification'],
  wallet: [
    'ledger_account',
    'ledger_check',
    'ledger_checked',
    'ledger_entry',
    'ledger_transfer',
    'wallet_debt',
  ],
  billing: ['invoice', 'invoice_counter', 'invoice_line', 'runway_warning', 'subscription'],
  payments: [
    'card_customer',
    'payment',
    'payment_notice',
    'payment_refund',
    'payment_reversal',
    'payment_reversal_unmatched',
    'payment_suspense',
  ],
  wordpress: [
    'host',
    'host_change',
    'log_ticket',
    'site',
    'site_backup',
    'site_domain',
    'site_orphan',
    'site_restore',
  ],
  dns: ['dns_account_pair', 'dns_challenge', 'dns_change', 'dns_record', 'dns_served', 'dns_zone'],
}

/** `module writes table` or `module reads table`, and why. */
export const exceptions: Readonly<Record<string, string>> = {
  'demo.ts writes customer': 'the demo makes its customer in one transaction with its history',
  'demo.ts reads customer': 'the demo is written only where nobody has registered',
  'payments reads customer': 'letters and returns of money need the customer',
  'wordpress reads customer': 'a server is shown with its owner',
  'wordpress reads invoice': 'a server is listed with its order',
  'wordpress reads subscription': 'a server is listed with its subscription',
  'platform reads clock_offset': 'the clock starts where the command left it',
  'commands reads ledger_account': 'lists the accounts of suspense',
  'commands reads payment_suspense': 'lists what waits in suspense',
}
