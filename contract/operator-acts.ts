/**
 * The acts of the operator. Each has a name, a permission and a call of its own. The command
 * `portal act` and the trail use the same names (decision 91).
 */
import * as z from 'zod/mini'
import { email } from './auth.ts'
import { currency } from './money.ts'
import { needed, unneeded } from './operator-act.ts'
import { importActs } from './operator-imports.ts'
import { nodeActs } from './operator-node-acts.ts'
import { privacyActs } from './operator-privacy.ts'
import { outgoingWebhookActs } from './operator-webhooks.ts'
import { ticketActs } from './operator-ticket-acts.ts'
import { siteMailActs } from './operator-site-mail-acts.ts'
import { publicationShape } from './operator-catalog.ts'
import { updateActs } from './operator-update-acts.ts'
import { workActs } from './operator-work-acts.ts'
import { staffRole } from './operator.ts'
import { noticeKind } from './status.ts'
import { oneLine } from './text.ts'

export type { ActOutcome } from './operator-act.ts'

const id = z.string().check(z.maxLength(100))
const customer = { customer: id }
/** Minor units, above zero. */
const amount = z.int().check(z.gte(1), z.lte(1_000_000_000_000))
const paragraph = z.string().check(z.trim(), z.minLength(1), z.maxLength(2000))
const moment = z.optional(z.iso.datetime({ offset: true }))
const inBoth = { textEn: paragraph, textVi: paragraph }

export const acts = {
  'customer.block': needed(
    'customer.block',
    'customers',
    'Block a customer: no sign-in, open sessions end, servers go on',
    customer,
  ),
  'customer.unblock': needed(
    'customer.unblock',
    'customers',
    'Let a blocked customer sign in again',
    customer,
  ),
  'customer.end_sessions': needed(
    'customer.end_sessions',
    'customers',
    'End every session of a customer',
    customer,
  ),
  'customer.end_programs': needed(
    'customer.end_programs',
    'customers',
    'Revoke every token of a customer, and switch their webhooks off',
    customer,
  ),
  'customer.revoke_token': needed(
    'customer.revoke_token',
    'customers',
    'Revoke one token of a customer, such as one that was published',
    {
      /** Its id, its beginning (`cpt_` and 12 characters), or all of it. */
      token: id,
    },
  ),
  'customer.reset_second_factor': needed(
    'customer.reset_second_factor',
    'customers',
    'Take the second factor away from a customer who has lost it, and end every session',
    {
      ...customer,
      /** How the customer proved who they are. */
      proof: oneLine(10, 500),
    },
  ),
  'customer.email': needed(
    'customer.email',
    'customers',
    'Give a customer who has lost the mailbox another e-mail address; every session ends',
    {
      ...customer,
      email,
      /** How the customer proved who they are. */
      proof: oneLine(10, 500),
    },
  ),
  'customer.language': needed(
    'customer.language',
    'customers',
    'Change the language that a customer is written to in',
    { ...customer, language: z.enum(['en', 'vi', 'aud']) },
  ),
  'customer.see': needed(
    'customer.see',
    'customers',
    'See the portal as a customer does, and change nothing: a link for one minute',
    customer,
  ),
  'customer.note': unneeded('customer.note', 'note', 'Write a note about a customer', {
    ...customer,
    text: paragraph,
  }),
  'customer.label': unneeded('customer.label', 'note', 'Give a customer a label', {
    ...customer,
    label: oneLine(1, 40),
  }),
  'customer.unlabel': unneeded('customer.unlabel', 'note', 'Take a label away from a customer', {
    ...customer,
    label: oneLine(1, 40),
  }),
  ...importActs,
  'money.credit': needed('money.credit', 'money', 'Put money into a wallet', {
    ...customer,
    amount,
    currency,
    /** What the customer is told about it. */
    told: oneLine(3, 200),
  }),
  'money.debit': needed(
    'money.debit',
    'money',
    'Take money out of a wallet, which never goes below zero',
    { ...customer, amount, currency, told: oneLine(3, 200) },
  ),
  'money.refund': needed(
    'money.refund',
    'money',
    'Give a top-up, or a part of it, back to its source',
    {
      /** The transaction code. */
      payment: id,
      /** Minor units; without it, all that is left now, also where it waits for approval. */
      amount: z.optional(amount),
    },
  ),
  'money.refund_by_hand': needed(
    'money.refund_by_hand',
    'money',
    'Enter that a top-up, or a part of it, was given back by a bank transfer of ours, because ' +
      'its gateway makes no refunds, or refused this one',
    {
      /** The transaction code. */
      payment: id,
      /** Minor units; without it, all that is left now, also where it waits for approval. */
      amount: z.optional(amount),
      /** The bank's number of the transfer, or what will be written in it. */
      bankReference: oneLine(3, 64),
    },
  ),
  'money.assign': needed(
    'money.assign',
    'money',
    'Give money that matches no payment to the customer whose it is',
    {
      /** The number of the money in suspense. */
      suspense: z.int().check(z.gte(1)),
      /**
       * Where it belongs: a customer's e-mail address, a transaction code, or the code that came
       * with the money.
       */
      to: oneLine(3, 254),
    },
  ),
  'money.return': needed(
    'money.return',
    'money',
    'Book out money that matches no payment and was sent back to who had sent it',
    {
      /** The number of the money in suspense. */
      suspense: z.int().check(z.gte(1)),
    },
  ),
  'dispute.answer': needed(
    'dispute.answer',
    'money',
    'Send evidence to the bank of a customer who disputes a payment; it is sent once',
    {
      dispute: id,
      evidence: z.string().check(z.trim(), z.minLength(20), z.maxLength(20_000)),
    },
  ),
  'dispute.accept': needed(
    'dispute.accept',
    'money',
    'Accept a dispute: the money that the bank took is given up',
    { dispute: id },
  ),
  'reconcile.compare': needed(
    'reconcile.compare',
    'money',
    'Compare a gateway with payments and ledger now',
    { gateway: oneLine(2, 20) },
  ),
  'reconcile.ask': needed(
    'reconcile.ask',
    'money',
    'Ask the gateway about a difference, settle what it says, and compare again',
    {
      /** The name in the list of differences. */
      item: oneLine(3, 300),
    },
  ),
  'reconcile.close': needed(
    'reconcile.close',
    'money',
    'Close a difference as explained; with other figures it is open again',
    { item: oneLine(3, 300) },
  ),
  'refund.decide': needed(
    'refund.decide',
    'money',
    'Decide a refund that its gateway did not answer, by what its own pages show',
    { refund: id, outcome: z.enum(['done', 'refused']) },
  ),
  'payout.match': needed(
    'payout.match',
    'money',
    'Say that money in suspense at the bank is a pay-out of a gateway that is posted already',
    {
      /** The number of the money in suspense. */
      suspense: z.int().check(z.gte(1)),
      /** The reference of the pay-out. */
      payout: oneLine(3, 64),
    },
  ),
  'credit_line.set': needed(
    'credit_line.set',
    'money',
    'Give a customer a credit line for renewals, change it, or end it with a limit of 0',
    {
      ...customer,
      /** Minor units that may be owed in total; 0 ends the line. */
      limit: z.int().check(z.gte(0), z.lte(1_000_000_000_000)),
      currency,
      /** Days until lent money is due; 30 if absent. */
      termDays: z.optional(z.int().check(z.gte(1), z.lte(90))),
    },
  ),
  'voucher.make': needed(
    'voucher.make',
    'money',
    'Make a voucher: a code that puts money into wallets, once for each customer',
    {
      /** Generated if absent. */
      code: z.optional(oneLine(4, 40)),
      /** Minor units, for each use. */
      amount,
      currency,
      uses: z.int().check(z.gte(1), z.lte(100_000)),
      /** The last day on which it may be used; without it, it does not expire. */
      expiresOn: z.optional(z.iso.date()),
    },
  ),
  'voucher.stop': needed('voucher.stop', 'money', 'End a voucher: what was used stays', {
    voucher: oneLine(4, 40),
  }),
  'coupon.make': needed(
    'coupon.make',
    'money',
    'Make a coupon: a code that lowers the first month of an order',
    {
      /** Generated if absent. */
      code: z.optional(oneLine(4, 40)),
      /** Percent off the price; without it, `amount` is the discount. */
      percent: z.optional(z.int().check(z.gte(1), z.lte(99))),
      /**
       * With `percent`: the largest discount on one order, minor units. Otherwise the discount
       * itself.
       */
      amount,
      currency,
      uses: z.int().check(z.gte(1), z.lte(100_000)),
      /** Most orders of one customer; 1 if absent. */
      perCustomer: z.optional(z.int().check(z.gte(1), z.lte(1000))),
      /** Ids of plans; without it, every plan. */
      plans: z.optional(z.array(z.coerce.number().check(z.int())).check(z.maxLength(50))),
      /** Today if absent. */
      startsOn: z.optional(z.iso.date()),
      /** The last day on which it may be used; without it, it does not expire. */
      expiresOn: z.optional(z.iso.date()),
    },
  ),
  'coupon.stop': needed('coupon.stop', 'money', 'End a coupon: orders that have it keep it', {
    coupon: oneLine(4, 40),
  }),
  'payout.import': needed(
    'payout.import',
    'money',
    'Post a pay-out of a gateway by its file: what reached the bank, its fees, and its lines',
    {
      /** The gateway's name in the configuration, such as vnpay. */
      gateway: oneLine(2, 20),
      /** The reference of the pay-out: one reference is posted once. */
      reference: oneLine(3, 64),
      currency,
      /** Minor units that reached the bank. */
      amount,
      /** The day on which the money reached the bank. */
      arrivedOn: z.iso.date(),
      fileName: oneLine(1, 200),
      /** The file's text: comma-separated values with a header line. */
      file: z.string().check(z.minLength(10), z.maxLength(200_000)),
    },
  ),
  'payout.read': needed(
    'payout.read',
    'money',
    'Ask a gateway for its pay-outs since a day, and post those that are not posted yet',
    { gateway: oneLine(2, 20), since: z.iso.date() },
  ),
  'catalog.publish': needed(
    'catalog.publish',
    'sell',
    'Sell by other plans, prices, disks or data centres, now or from a moment on',
    publicationShape,
  ),
  'catalog.use': needed(
    'catalog.use',
    'sell',
    'Have a file be the catalogue as it is, at once; in the shell only',
    {
      file: z.string().check(z.minLength(1), z.maxLength(200_000)),
      /** The installation that the file belongs to. */
      origin: z.string().check(z.minLength(1), z.maxLength(500)),
      /** The version that is in use; absent when there is none. */
      base: z.optional(z.int().check(z.gte(1))),
    },
  ),
  'catalog.withdraw': needed(
    'catalog.withdraw',
    'sell',
    'Take a publication of the catalogue back that does not count yet',
    { publication: id },
  ),
  ...updateActs,
  ...workActs,
  ...siteMailActs,
  'server.move': needed(
    'server.move',
    'work',
    'Move a server to another node of its data centre, while its visitors go on',
    {
      server: id,
      /** The target node; without it, the emptiest one that has room. */
      node: z.optional(oneLine(1, 40)),
    },
  ),
  'server.cancel': needed(
    'server.cancel',
    'work',
    'Cancel a server now: it is deleted, and what is unused of its month goes back into the wallet',
    {
      server: id,
      /** The reason that the server's owner reads. */
      told: oneLine(3, 200),
    },
  ),
  'server.undo_move': needed(
    'server.undo_move',
    'work',
    'Put the original of a moved server in its place again; what was written since is lost',
    {
      server: id,
      /** `yes`: the operator confirms that the server's present machine is off. */
      poweredOff: z.optional(z.enum(['no', 'yes'])),
    },
  ),
  ...nodeActs,
  'status.publish': needed(
    'status.publish',
    'work',
    'Tell everybody of an announcement, an incident or maintenance',
    {
      kind: noticeKind,
      titleEn: oneLine(3, 120),
      titleVi: oneLine(3, 120),
      ...inBoth,
      /** Now if absent. */
      startsAt: moment,
      /** Without it: until somebody ends it. */
      endsAt: moment,
      /** Only for maintenance. `yes`: customers' calls are refused during it. */
      closes: z.enum(['no', 'yes']),
    },
  ),
  'status.update': needed('status.update', 'work', 'Tell everybody how it stands', {
    notice: id,
    ...inBoth,
  }),
  'status.end': needed(
    'status.end',
    'work',
    'End an announcement, an incident or maintenance; one that has not begun is taken back',
    { notice: id },
  ),
  ...privacyActs,
  ...ticketActs,
  ...outgoingWebhookActs,
  'staff.invite': needed('staff.invite', 'staff', 'Invite somebody to the staff by e-mail', {
    name: oneLine(1, 100),
    email,
    role: staffRole,
    networks: z.optional(z.array(oneLine(3, 50)).check(z.maxLength(20))),
    /** An earlier invitation that this one ends, whoever received it. */
    replaces: z.optional(id),
  }),
  'staff.withdraw': needed(
    'staff.withdraw',
    'staff',
    'Withdraw an invitation that was not accepted: its link ends at once',
    { invitation: id },
  ),
  'staff.change': needed('staff.change', 'staff', 'Change the role or networks of a member', {
    member: id,
    role: z.optional(staffRole),
    networks: z.optional(z.array(oneLine(3, 50)).check(z.maxLength(20))),
  }),
  'staff.disable': needed(
    'staff.disable',
    'staff',
    'End the work of a member: sessions end at once',
    { member: id },
  ),
  'staff.enable': needed('staff.enable', 'staff', 'Let a disabled member work again', {
    member: id,
  }),
} as const
export type ActName = keyof typeof acts
export const actNames = Object.keys(acts) as ActName[]

/** The body of an act without reason and key. */
export type ActInput<N extends ActName> = Omit<z.output<(typeof acts)[N]['body']>, 'reason' | 'key'>
