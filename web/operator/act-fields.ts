/** The fields that each act's dialog asks for, besides those already known. */
import { currencies } from '../../contract/money.ts'
import { acts, type ActName } from '../../contract/operator-acts.ts'
import { requestKinds } from '../../contract/data-requests.ts'
import { staffRoles } from '../../contract/staff-roles.ts'
import { noticeKinds } from '../../contract/status.ts'
import { priorities } from '../../contract/tickets-desk.ts'

export interface ActField {
  readonly name: string
  readonly kind:
    | 'line'
    | 'paragraph'
    | 'amount'
    | 'choice'
    | 'list'
    | 'moment'
    | 'day'
    | 'file'
    | 'count'
    | 'events'
    | 'plans'
    | 'node'
  readonly isOptional?: true
  /** The amount may be 0, which ends something. */
  readonly mayBeZero?: true
  readonly options?: readonly string[]
  /** Key of the label's text, where it is not the field's name. */
  readonly label?: string
  /** Key of the hint below the field, where it is not the usual one. */
  readonly hint?: string
}
const line = (name: string): ActField => ({ name, kind: 'line' })
const amount: ActField = { name: 'amount', kind: 'amount' }
const told: ActField = { name: 'told', kind: 'line' }
const toldByLetter: ActField = { ...told, hint: 'toldByLetterHint' }
const toldWhy: ActField = {
  name: 'told',
  kind: 'paragraph',
  label: 'toldWhy',
  hint: 'toldByLetterHint',
}
const role: ActField = { name: 'role', kind: 'choice', options: staffRoles }
const networks: ActField = { name: 'networks', kind: 'list', isOptional: true }

const paragraph = (name: string): ActField => ({ name, kind: 'paragraph' })
const moment = (name: string): ActField => ({ name, kind: 'moment', isOptional: true })
const choice = (name: string, options?: readonly string[]): ActField => ({
  name,
  kind: 'choice',
  ...(options && { options }),
})
const inBoth = [paragraph('textEn'), paragraph('textVi')]

const outgoing: readonly ActField[] = [
  { name: 'url', kind: 'line', hint: 'urlHint' },
  { name: 'events', kind: 'events' },
]

const own: Readonly<Record<ActName, readonly ActField[]>> = {
  'customer.block': [],
  'customer.unblock': [],
  'customer.end_sessions': [],
  'customer.end_programs': [],
  'customer.revoke_token': [],
  'customer.reset_second_factor': [{ name: 'proof', kind: 'paragraph' }],
  'customer.email': [line('email'), paragraph('proof')],
  'customer.language': [{ name: 'language', kind: 'choice', options: ['vi', 'en', 'aud'] }],
  'customer.see': [],
  'customer.note': [{ name: 'text', kind: 'paragraph' }],
  'customer.label': [line('label')],
  'customer.unlabel': [],
  'customers.import': [{ ...choice('letters', ['no', 'yes']), hint: 'lettersHint' }],
  'customers.invite': [],
  'money.credit': [amount, told],
  'money.debit': [amount, told],
  'money.refund': [{ ...amount, isOptional: true }],
  'money.refund_by_hand': [
    { ...amount, isOptional: true },
    { name: 'bankReference', kind: 'line', hint: 'bankReferenceHint' },
  ],
  'money.assign': [line('to')],
  'money.return': [],
  'dispute.answer': [paragraph('evidence')],
  'dispute.accept': [],
  'payout.import': [
    choice('gateway'),
    { name: 'file', kind: 'file' },
    line('reference'),
    choice('currency', currencies),
    amount,
    { name: 'arrivedOn', kind: 'day' },
  ],
  'credit_line.set': [
    { name: 'limit', kind: 'amount', mayBeZero: true },
    { name: 'termDays', kind: 'count', isOptional: true, hint: 'termDaysHint' },
  ],
  'voucher.make': [
    { name: 'code', kind: 'line', isOptional: true },
    choice('currency', currencies),
    amount,
    { name: 'uses', kind: 'count' },
    { name: 'expiresOn', kind: 'day', isOptional: true },
  ],
  'voucher.stop': [],
  'coupon.make': [
    { name: 'code', kind: 'line', isOptional: true },
    choice('currency', currencies),
    { ...amount, label: 'most' },
    { name: 'percent', kind: 'count', isOptional: true, hint: 'percentHint' },
    { name: 'uses', kind: 'count', label: 'orders' },
    { name: 'perCustomer', kind: 'count', isOptional: true, hint: 'perCustomerHint' },
    { name: 'plans', kind: 'plans' },
    { name: 'startsOn', kind: 'day', isOptional: true },
    { name: 'expiresOn', kind: 'day', isOptional: true },
  ],
  'coupon.stop': [],
  'payout.match': [line('payout')],
  'reconcile.compare': [choice('gateway')],
  'reconcile.ask': [],
  'reconcile.close': [],
  'refund.decide': [choice('outcome', ['done', 'refused'])],
  'payout.read': [choice('gateway'), { name: 'since', kind: 'day' }],
  'work.hold_server': [{ ...told, hint: 'noteHint' }],
  'work.release_server': [],
  'work.put_off': [{ name: 'until', kind: 'day', hint: 'untilHint' }],
  'mail.suspend': [
    choice('cause', ['operator', 'complaint', 'bounces']),
    { name: 'note', kind: 'line', isOptional: true, label: 'noteForOwner', hint: 'noteHint' },
  ],
  'mail.resume': [],
  'work.retry_job': [],
  'work.retry_jobs': [],
  'work.retry_server': [],
  // Acts that only commands perform; the desk has no dialog for them.
  'node.add': [],
  'node.key': [],
  'node.drain': [],
  'node.activate': [],
  'node.remove': [],
  'updates.plan': [],
  'updates.start': [],
  'updates.pause': [],
  'updates.resume': [],
  'updates.cancel': [],
  'work.give_up_order': [toldByLetter],
  'catalog.publish': [],
  'catalog.use': [],
  'catalog.withdraw': [],
  'letter.resend': [],
  'webhook.replay': [],
  'server.cancel': [toldByLetter],
  'server.move': [{ name: 'node', kind: 'node', isOptional: true }],
  'server.undo_move': [{ name: 'poweredOff', kind: 'choice', options: ['no', 'yes'] }],
  'node.lost': [{ name: 'poweredOff', kind: 'choice', options: ['no', 'yes'] }],
  'status.publish': [
    { name: 'kind', kind: 'choice', options: noticeKinds },
    line('titleEn'),
    line('titleVi'),
    ...inBoth,
    moment('startsAt'),
    moment('endsAt'),
    { name: 'closes', kind: 'choice', options: ['no', 'yes'] },
  ],
  'status.update': inBoth,
  'status.end': [],
  'privacy.receive': [
    { name: 'from', kind: 'line', hint: 'fromHint' },
    choice('kind', requestKinds),
    { name: 'text', kind: 'paragraph', label: 'asked' },
    { name: 'receivedOn', kind: 'day', isOptional: true, hint: 'receivedOnHint' },
  ],
  'privacy.done': [toldWhy],
  'privacy.refuse': [toldWhy],
  'ticket.answer': [{ name: 'text', kind: 'paragraph' }],
  'ticket.note': [{ name: 'text', kind: 'paragraph' }],
  'ticket.assign': [],
  'ticket.priority': [{ name: 'priority', kind: 'choice', options: priorities }],
  'ticket.label': [line('label')],
  'ticket.unlabel': [],
  'ticket.close': [],
  'ticket.reopen': [],
  'ticket.merge': [],
  'ticket.give': [{ name: 'to', kind: 'line', label: 'toCustomer' }],
  'ticket.save_canned': [line('name'), ...inBoth],
  'ticket.delete_canned': [],
  'outgoing_webhook.add': outgoing,
  'outgoing_webhook.change': outgoing,
  'outgoing_webhook.renew_secret': [],
  'outgoing_webhook.remove': [],
  'outgoing_webhook.pause': [],
  'outgoing_webhook.resume': [],
  'outgoing_webhook.test': [],
  'outgoing_webhook.resend': [],
  'outgoing_webhook.resend_failed': [{ name: 'since', kind: 'moment', hint: 'sinceHint' }],
  'staff.invite': [line('name'), line('email'), role, networks],
  'staff.withdraw': [],
  'staff.change': [role, networks],
  'staff.disable': [],
  'staff.enable': [],
}

/** Acts that need no reason, because they explain themselves. */
const withoutReason: ReadonlySet<ActName> = new Set([
  'customer.note',
  'customer.label',
  'customer.unlabel',
  'letter.resend',
  'outgoing_webhook.test',
  'outgoing_webhook.resend',
  'privacy.receive',
  'privacy.done',
  'privacy.refuse',
  'ticket.answer',
  'ticket.note',
  'ticket.assign',
  'ticket.priority',
  'ticket.label',
  'ticket.unlabel',
  'ticket.close',
  'ticket.reopen',
  'ticket.save_canned',
])
export const fieldsOf = (act: ActName): readonly ActField[] =>
  withoutReason.has(act) ? own[act] : [...own[act], { name: 'reason', kind: 'paragraph' }]

/** Whether an act does harm and is confirmed by a red button. */
export const isGrave = (act: ActName): boolean =>
  [
    'customer.block',
    'customer.end_programs',
    'customer.revoke_token',
    'customer.reset_second_factor',
    'customer.email',
    'money.debit',
    'money.return',
    'outgoing_webhook.remove',
    'dispute.accept',
    'privacy.refuse',
    'staff.disable',
    'staff.withdraw',
    'ticket.delete_canned',
    'work.give_up_order',
    'work.hold_server',
    'mail.suspend',
    'server.cancel',
    'server.undo_move',
    'node.lost',
  ].includes(act)

export const endpointOfAct = (act: ActName): (typeof acts)[ActName] => acts[act]
