/**
 * Personal data by table and column (decision 115). A test compares both lists with the schema: a
 * new table or column must be exported, or left out with a reason.
 */

/** Rows of a table that are about one customer. */
export interface Stored {
  readonly table: string
  readonly columns: readonly string[]
  /** Columns that say nothing of the person, are secret, or are derived from others. */
  readonly left: readonly string[]
  /** Which rows are theirs. */
  readonly by:
    | { readonly column: string }
    /** The rows of another table in this list are those with its `column`. */
    | { readonly column: string; readonly of: string; readonly its: string }
    /** Written to an e-mail address or number of theirs. */
    | { readonly recipient: string }
  /** The key that orders the reading; null: the rows are few. */
  readonly key: string | null
  /** Rows with this value are not given out. */
  readonly but?: { readonly column: string; readonly value: string }
}

const own = { column: 'customer_id' }
const ofSite = { column: 'site_id', of: 'site', its: 'id' }
const ofInvoice = { column: 'invoice_id', of: 'invoice', its: 'id' }
const ofPayment = { column: 'payment_id', of: 'payment', its: 'id' }
const ofZone = { column: 'zone_id', of: 'dns_zone', its: 'id' }

/** `columns` and `left`: names with blanks between. */
const rows = (
  table: string,
  by: Stored['by'],
  key: string | null,
  columns: string,
  left = '',
): Stored => ({
  table,
  by,
  key,
  columns: columns.split(/\s+/).filter(Boolean),
  left: left.split(/\s+/).filter(Boolean),
})

export const stored: readonly Stored[] = [
  rows(
    'customer',
    { column: 'id' },
    null,
    `id name email phone region_code language time_zone company tax_code address_line location_id
      active created_at email_proven_at blocked_at closed_at`,
    'password_hash',
  ),
  rows(
    'imported_customer',
    own,
    null,
    'reference imported_at written_at came_at',
    'customer_id import_id line considered_at had_balance',
  ),
  rows('sign_in', own, 'id', 'id at ip user_agent outcome until', 'customer_id'),
  rows(
    'session',
    own,
    'id',
    'id created_at last_used_at ip user_agent remembered ends_at expires_at locked_at proven_at',
    'customer_id token_hash cookie_hash token_expires_at',
  ),
  rows('former_address', own, null, 'kind address from_at until_at', 'customer_id'),
  rows('known_origin', own, null, 'origin seen_at', 'customer_id'),
  rows(
    'trusted_device',
    own,
    'id',
    'id created_at expires_at ip user_agent',
    'customer_id token_hash',
  ),
  rows('totp', own, null, 'created_at confirmed_at', 'customer_id secret last_step'),
  rows(
    'passkey',
    own,
    'id',
    'id name created_at last_used_at',
    'customer_id credential_id public_key counter transports',
  ),
  rows('customer_label', own, null, 'label', 'customer_id'),
  // The accounts they work in, their acts there, and their invitations.
  rows(
    'data_request',
    own,
    'id',
    'id kind asked_by text received_at due_at state decided_at answer',
    'customer_id entered_by decided_by',
  ),
  rows(
    'team_member',
    { column: 'person_id' },
    'id',
    'id role servers domains joined_at last_used_at rights_changed_at',
    'owner_id person_id',
  ),
  rows(
    'team_invitation',
    { column: 'owner_id' },
    'id',
    'id email role servers domains created_at expires_at',
    'owner_id token_hash',
  ),
  rows(
    'team_act',
    { column: 'person_id' },
    'id',
    'id person_name at call subject_id ip',
    'owner_id person_id',
  ),
  rows(
    'hand_over',
    { column: 'from_id' },
    'id',
    'id kind name email created_at expires_at accepted_at subject_id',
    'from_id to_id token_hash',
  ),
  rows(
    'program_token',
    own,
    'id',
    'id name public_id scopes servers domains networks created_at expires_at last_used_at ' +
      'last_used_from',
    'customer_id token_hash ending_told_at',
  ),
  rows(
    'webhook_endpoint',
    own,
    'id',
    'id url events created_at disabled_at disabled_reason failing_since',
    `customer_id secret earlier_secret earlier_until claimed_until
      put_off_at put_off_until`,
  ),
  rows(
    'webhook_delivery',
    { column: 'endpoint_id', of: 'webhook_endpoint', its: 'id' },
    'seq',
    'id endpoint_id event payload state created_at attempts answer',
    'seq tries next_at',
  ),
  rows('notification', own, 'id', 'id event payload created_at read_at', 'customer_id seq'),
  rows(
    'message',
    { recipient: 'recipient' },
    'id',
    'id channel recipient subject created_at sent_at',
    'sealed_text expires_at failure reply_to resent_of',
  ),
  rows(
    'ledger_account',
    own,
    'id',
    'id code currency balance',
    'customer_id head_hash ' + 'last_at may_be_negative version',
  ),
  rows(
    'ledger_entry',
    { column: 'account_id', of: 'ledger_account', its: 'id' },
    'id',
    'id account_id transfer_id amount ending_balance',
    'hash version',
  ),
  rows(
    'ledger_transfer',
    { column: 'id', of: 'ledger_entry', its: 'transfer_id' },
    'id',
    'id kind details created_at',
    'key fingerprint reverses',
  ),
  rows(
    'wallet_debt',
    own,
    'created_at',
    'kind amount settled currency created_at due_at',
    'customer_id account key write_at',
  ),
  rows('credit_line', own, null, 'currency credit_limit term_days changed_at', 'customer_id'),
  rows(
    'payment',
    own,
    'id',
    `id code driver channel amount currency received set_off status detail ip language created_at
      expires_at settled_at reference provider_ref provider_transaction_id`,
    'customer_id asked',
  ),
  rows(
    'payment_refund',
    ofPayment,
    'id',
    'id payment_id amount status reason created_at settled_at',
    'attempts detail doubted_at provider_refund_id',
  ),
  rows(
    'payment_dispute',
    ofPayment,
    'id',
    'id payment_id state is_inquiry amount currency reason fee money opened_at closed_at',
    'driver reference evidence_due_at due_told_at seen_at number',
  ),
  rows(
    'payment_dispute_answer',
    { column: 'dispute_id', of: 'payment_dispute', its: 'id' },
    'id',
    'id dispute_id kind text created_at settled_at',
    'status detail',
  ),
  rows('coupon_use', own, null, 'coupon_id invoice_id amount currency at', 'customer_id'),
  rows('voucher_use', own, null, 'voucher_id at', 'customer_id'),
  rows('payment_reversal', ofPayment, 'id', 'id payment_id kind amount created_at', 'movement'),
  rows(
    'auto_top_up',
    own,
    null,
    `currency below amount month_limit driver card_brand card_last4 consented_at declines
      next_try_at off_at off_reason`,
    'customer_id card_id limit_told',
  ),
  rows(
    'auto_top_up_charge',
    own,
    'began_at',
    'payment_id amount month state began_at decided_at',
    'customer_id card_id lease_until detail',
  ),
  rows('card_customer', own, null, 'driver created_at', 'customer_id reference'),
  rows(
    'subscription',
    own,
    'id',
    `id product description subject price currency months status created_at period_start period_end
      ended_at cancel_at_period_end invoice_id region_code`,
    'customer_id anchor_at dunning_from next_at planned reminded rise terms watch_at',
  ),
  rows(
    'invoice',
    own,
    'seq',
    `id number kind status product subject buyer total amount_paid currency tax_name tax_rate
      created_at issued_at paid_at period_start period_end lapses_at corrects_id subscription_id
      region_code`,
    'customer_id seq seller sets starts old_token_hash',
  ),
  rows(
    'invoice_line',
    ofInvoice,
    null,
    `invoice_id position description_en description_vi quantity unit_price amount tax period_start
      period_end`,
    'basis corrects_position',
  ),
  rows(
    'site',
    own,
    'seq',
    `id name status plan_name region_name cpu ram_mb disk_mb mariadb_disk_mb containers price
      currency language admin_user created_at running_at deleted_at primary_host denied_networks
      visit_user php_settings update_policy mail_enabled page_cache subscription_id invoice_id
      held_at held_told`,
    `customer_id seq admin_password_sealed attempts disk_warned disk_watched_at down_reason
      down_since generation giving_up health_checked_at mail_suspended mariadb_disk_warned
      nightly_backup_at node_id plan_id planned_containers planned_id planned_plan_id reason
      region_id resumed_at run settled_generation steps_done unanswered visit_hash`,
  ),
  rows(
    'site_domain',
    own,
    'id',
    'id site_id name verified created_at released_at',
    'customer_id checked_at next_check_at pointed proof challenge',
  ),
  rows(
    'site_command',
    own,
    'id',
    'id site_id command address began_at ended_at outcome',
    'customer_id',
  ),
  rows(
    'site_import',
    own,
    'seq',
    'id site_id state origin total_bytes created_at switched_at found pages problem',
    `customer_id seq attempts backup_id cleaned_at copied expires_at files phase share
      upload_removed_at`,
  ),
  rows(
    'site_move',
    ofSite,
    'seq',
    'id site_id state created_at switched_at backup_id content_at',
    `seq arrived attempts cause copied_bytes differences expires_at fenced_at from_node held_ms
      from_mirror leftover_node leftover_stopped reason round to_node`,
  ),
  rows(
    'site_mirror',
    ofSite,
    'created_at',
    'id site_id state created_at content_at',
    'attempts from_node holder laid next_at node_id reason tries writes_until',
  ),
  rows(
    'site_backup',
    ofSite,
    'seq',
    'id site_id kind state created_at proven_at archive_bytes',
    'seq attempts database figures for_update reason',
  ),
  rows(
    'site_restore',
    ofSite,
    'id',
    'id site_id backup_id state asked_at ended_at',
    'attempts reason',
  ),
  rows(
    'site_rewrite',
    ofSite,
    'id',
    'id site_id from_hosts to_url state created_at ended_at',
    'after problem tables',
  ),
  rows(
    'site_ssh_key',
    ofSite,
    'id',
    'id site_id name kind created_at used_at used_from',
    'public_key',
  ),
  rows(
    'site_mail_setting',
    ofSite,
    null,
    'site_id sender suspended_at suspended_for',
    'limit_told_at ' + 'resumed_at suspended_note wake_at',
  ),
  rows(
    'site_mail_key',
    ofSite,
    'id',
    'id site_id domain selector created_at',
    'key_sealed public_key',
  ),
  rows('site_mail_suppressed', ofSite, null, 'site_id recipient until'),
  rows(
    'site_letter',
    ofSite,
    'id',
    'id site_id from_address subject bytes created_at',
    'key message_id named_from sealed',
  ),
  rows(
    'site_mail',
    ofSite,
    'id',
    'id site_id letter_id recipient state created_at settled_at returned_at why',
    'attempts leased_until next_at',
  ),
  rows(
    'site_update',
    ofSite,
    'seq',
    'id site_id cause packages state created_at begun_at ended_at reason',
    'seq admin_worked attempts backup_id before differences restore_id stage wave_id held_until ' +
      'hold_lapses',
  ),
  rows(
    'ticket',
    own,
    'number',
    `id number subject state priority object_kind object_id object_name opened_at closed_at rating
      rated_at sender_email sender_name`,
    'customer_id assignee_id labels waiting_since staff_told_at merged_into messages',
  ),
  {
    ...rows(
      'ticket_message',
      { column: 'ticket_id', of: 'ticket', its: 'id' },
      'seq',
      'id ticket_id at kind author text by_mail left_out',
      'seq staff_id person_id proven letter',
    ),
    // The staff's internal notes.
    but: { column: 'kind', value: 'note' },
  },
  rows(
    'ticket_file',
    { column: 'message_id', of: 'ticket_message', its: 'id' },
    'seq',
    'id message_id name bytes created_at',
    'seq customer_id staff_id content',
  ),
  rows(
    'certificate',
    own,
    'id',
    'id name site_id issuer not_before not_after created_at problem',
    `customer_id attempts chain directory key_sealed leased_until next_at order_directory
      order_key_sealed order_url problem_at problem_detail renew_at version warned`,
  ),
  rows(
    'dns_zone',
    own,
    'seq',
    'id shown_name name_servers created_at first_active_at deleted_at',
    `customer_id seq name active_at checked_at foreign_delegation found misses moved_at
      next_check_at pending_since serial touched_at`,
  ),
  rows(
    'dns_record',
    ofZone,
    'seq',
    'id zone_id name type content ttl_seconds priority proxied',
    'seq ' + 'version',
  ),
  rows(
    'dns_change',
    own,
    'id',
    'id zone_id at action before after undone_at token_name',
    'customer_id serial is_surplus person_id by_former_owner',
  ),
]

/** Tables from which nothing is exported, by the reason. */
export const notStored = {
  'keys, counters and traces of the machine, of nobody': [
    'idempotency',
    'idempotency_action',
    'rate_limit',
    'root_secret',
    'schema_migration',
    'installation',
    'clock_offset',
    'catalog_version',
    'catalog_file',
    'acme_account',
    'acme_order',
    'ledger_check',
    'ledger_checked',
    'invoice_counter',
    'host',
    'host_change',
    'node',
    'site_change',
    'node_join',
    'site_placement',
    'site_orphan',
    'site_software',
    'site_usage',
    'software_release',
    'update_wave',
    'site_https',
    'dns_served',
    'dns_challenge',
    'dns_account_pair',
    'code_failure',
    'sms_day',
    'sms_slot',
    'sign_in_failure',
    'channel_grant',
    'portal_backup',
    'operator_act_head',
    'runway_warning',
    'site_import_piece',
  ],
  'lives for minutes, and is a secret': [
    'acting_session',
    'auth_challenge',
    'one_time_code',
    'log_ticket',
    'site_database_access',
    'sign_in_denial',
    'recovery_code',
  ],
  'the sealed text of a letter that the customer has, for seven days': ['message_kept'],
  'of the staff, and not of a customer': [
    'staff',
    'staff_invitation',
    'staff_session',
    'canned_answer',
    'coupon',
    'voucher',
    'status_notice',
    'status_update',
    'catalog_publication',
  ],
  'a file of many people that is gone once it is imported, or after three days': [
    'customer_import',
  ],
  'what the staff wrote of a customer is given out by the staff, who judge whose rights it touches':
    ['customer_note', 'operator_act', 'operator_proposal', 'account_view'],
  'of the operator’s own programs: what they are told of a customer stands in other tables': [
    'operator_event',
    'webhook_subject',
  ],
  'messages of a gateway: what they say of a customer stands in payment': [
    'gateway_payout',
    'gateway_payout_line',
    'payment_comparison',
    'payment_difference',
    'payment_notice',
    'payment_reversal_unmatched',
    'payment_suspense',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>
