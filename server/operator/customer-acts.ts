/** Acts on customers' accounts. */
import { randomUUID } from 'node:crypto'
import { viewMinutes } from '../../contract/operator-desk.ts'
import { holdOpenAccount, isActivated, prepareView, showCustomers } from '../auth/index.ts'
import { jobNames } from '../billing/index.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Done, RegistryOf } from './acts.ts'
import { revokeNamedToken, tokenBeginning } from '../tokens/index.ts'
import {
  emailGiven,
  programsEnded,
  secondFactorGone,
  sessionsEnded,
  tokenRevoked,
} from './letters.ts'

/** Refuses with not_found an unknown customer. */
export async function refuseUnknown(db: Queryable, customerId: string): Promise<void> {
  const found = isUuid(customerId) && (await showCustomers(db, [customerId])).has(customerId)
  if (!found) throw new Refusal('not_found')
}

/** Refuses with conflict when the currency is not the wallet's. */
export function refuseOtherCurrency(of: string, wanted: string): void {
  if (of === wanted) return
  throw new Refusal('conflict', {
    fields: {
      currency: {
        en: `The wallet of this customer holds ${of}.`,
        vi: `Ví của khách hàng này dùng ${of}.`,
      },
    },
  })
}

/**
 * Refuses with not_found, and with conflict a customer who has closed the account: nothing may be
 * written there.
 */
export async function refuseClosed(tx: Tx, customerId: string): Promise<void> {
  await refuseUnknown(tx, customerId)
  if (await holdOpenAccount(tx, customerId)) return
  throw new Refusal('conflict', {
    fields: {
      customer: {
        en: 'The customer has closed this account.',
        vi: 'Khách hàng đã đóng tài khoản này.',
      },
    },
  })
}

/** Refuses like `refuseClosed`, and with conflict an account that was never activated. */
export async function refuseWithoutWallet(tx: Tx, customerId: string): Promise<void> {
  await refuseClosed(tx, customerId)
  if (await isActivated(tx, customerId)) return
  // A registration may be deleted, or replaced by another of the same address.
  throw new Refusal('conflict', {
    fields: {
      customer: {
        en: 'The customer has not activated this account yet.',
        vi: 'Khách hàng chưa kích hoạt tài khoản này.',
      },
    },
  })
}

const about = (customerId: string): Pick<Done, 'subject' | 'customerId'> => ({
  subject: { kind: 'customer', id: customerId },
  customerId,
})

export const customerActs: RegistryOf<'customer'> = {
  'customer.block': {
    async run(tx, { accounts }, _actor, { customer }) {
      const sessions = await accounts.block(tx, customer)
      return { ...about(customer), before: { blocked: false }, after: { blocked: true, sessions } }
    },
  },
  'customer.unblock': {
    async run(tx, { accounts, jobs }, _actor, { customer }) {
      await accounts.unblock(tx, customer)
      // The credit line lends again: try unpaid invoices now.
      await jobs.add(tx, jobNames.payOpen, { customerId: customer })
      return { ...about(customer), before: { blocked: true }, after: { blocked: false } }
    },
  },
  'customer.end_sessions': {
    async run(tx, { accounts, customerMail, answerable }, _actor, { customer }) {
      const sessions = await accounts.endSessions(tx, customer)
      if (sessions > 0) {
        const { email: to, language } = await customerMail(tx, customer)
        await answerable(tx, { to, language, ...sessionsEnded[language] })
      }
      return { ...about(customer), before: { sessions }, after: { sessions: 0 } }
    },
  },
  'customer.end_programs': {
    async run(tx, { accounts, customerMail, answerable }, _actor, { customer }) {
      const programs = await accounts.endPrograms(tx, customer)
      const { email: to, language } = await customerMail(tx, customer)
      await answerable(tx, { to, language, ...programsEnded[language] })
      return { ...about(customer), before: { programs }, after: { programs: 0 } }
    },
  },
  'customer.revoke_token': {
    // A whole token may have been pasted: the trail keeps what names it.
    kept: ({ token }) => ({ token: tokenBeginning(token) }),
    async run(tx, { customerMail, answerable }, _actor, { token }) {
      const found = await revokeNamedToken(tx, token)
      if (!found)
        throw new Refusal('not_found', {
          fields: {
            token: { en: 'There is no such token.', vi: 'Không có token này.' },
          },
        })
      const { id, customerId, name, begins } = found
      const { email: to, language } = await customerMail(tx, customerId)
      await answerable(tx, { to, language, ...tokenRevoked[language](name, begins) })
      return {
        subject: { kind: 'token', id },
        customerId,
        before: { name, token: begins, revoked: false },
        after: { revoked: true },
      }
    },
  },
  'customer.reset_second_factor': {
    async run(tx, { accounts, customerMail, answerable }, _actor, { customer, proof }) {
      const { app, passkeys, sessions } = await accounts.resetSecondFactor(tx, customer)
      const { email: to, language } = await customerMail(tx, customer)
      await answerable(tx, { to, language, ...secondFactorGone[language] })
      return {
        ...about(customer),
        before: { app, passkeys, sessions },
        after: { app: false, passkeys: 0, sessions: 0, proof },
      }
    },
  },
  'customer.email': {
    customer: async (_tx, { customer }) => customer,
    // With the address a person can recover the account: no member may give it away alone.
    async needsSecond(tx, { accounts }, { customer, email }) {
      // Refuse before a second member is asked for something impossible.
      await accounts.refuseEmail(tx, customer, email)
      return true
    },
    async run(tx, { accounts, customerMail, answerable }, _actor, of) {
      const { customer, email, proof } = of
      const { email: before, language } = await customerMail(tx, customer)
      const sessions = await accounts.changeEmail(tx, customer, email)
      const { subject, toFormer, toNew } = emailGiven[language]
      await answerable(tx, { to: before, language, subject, text: toFormer(email) })
      await answerable(tx, { to: email, language, subject, text: toNew })
      return {
        ...about(customer),
        before: { email: before, sessions },
        after: { email, sessions: 0, proof },
      }
    },
  },
  'customer.language': {
    async run(tx, { accounts }, _actor, { customer, language }) {
      const before = await accounts.changeLanguage(tx, customer, language)
      return { ...about(customer), before: { language: before }, after: { language } }
    },
  },
  'customer.see': {
    async run(tx, { clock, portalUrl }, actor, { customer }) {
      // A command has no session that the view could end with, and no browser to open it.
      if (!actor.session)
        throw new Refusal('forbidden', {
          fields: {
            customer: {
              en: 'Only a member who is signed in to the desk sees as the customer does.',
              vi: 'Chỉ nhân viên đã đăng nhập trang vận hành mới xem được như khách hàng.',
            },
          },
        })
      const { id, ticket } = await prepareView(tx, clock, customer, actor.session.id)
      return {
        ...about(customer),
        before: null,
        after: { view: id, minutes: viewMinutes },
        // After #, so that no log contains it.
        link: `${portalUrl}/see#${ticket}`,
      }
    },
  },
  'customer.note': {
    async run(tx, { clock }, actor, { customer, text }) {
      await refuseClosed(tx, customer)
      const id = randomUUID()
      await tx
        .insertInto('customer_note')
        .values({ id, customer_id: customer, at: clock.now(), actor: actor.name, text })
        .execute()
      return { ...about(customer), before: null, after: { note: id, text } }
    },
  },
  'customer.label': {
    async run(tx, _needs, _actor, { customer, label }) {
      await refuseClosed(tx, customer)
      const { numInsertedOrUpdatedRows } = await tx
        .insertInto('customer_label')
        .values({ customer_id: customer, label })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      if (numInsertedOrUpdatedRows !== 1n)
        throw new Refusal('conflict', {
          fields: {
            label: { en: 'This customer has this label.', vi: 'Khách hàng đã có nhãn này.' },
          },
        })
      return { ...about(customer), before: null, after: { label } }
    },
  },
  'customer.unlabel': {
    async run(tx, _needs, _actor, { customer, label }) {
      await refuseUnknown(tx, customer)
      const { numDeletedRows } = await tx
        .deleteFrom('customer_label')
        .where('customer_id', '=', customer)
        .where('label', '=', label)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw new Refusal('not_found')
      return { ...about(customer), before: { label }, after: null }
    },
  },
}
