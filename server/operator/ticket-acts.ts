/** Acts on tickets. The texts of messages stay out of the trail, which is kept for ever. */
import type { ActInput } from '../../contract/operator-acts.ts'
import { activeCustomer } from '../auth/index.ts'
import { type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import * as tickets from '../tickets/index.ts'
import type { Done, RegistryOf } from './acts.ts'
import { without } from './kept.ts'

type Row = Awaited<ReturnType<typeof tickets.closeTicket>>
const about = ({ id, customer_id }: Row): Pick<Done, 'subject' | 'customerId'> => ({
  subject: { kind: 'ticket', id },
  customerId: customer_id,
})
const numberOf = ({ number }: Row): string => `#${number}`

const withoutText = without('text')

/** An active customer by id or exact email address. Refuses with invalid_input. */
async function customerOf(tx: Tx, to: string): Promise<string> {
  const found = await activeCustomer(tx, to.toLowerCase())
  if (found === undefined)
    throw new Refusal('invalid_input', {
      fields: {
        to: {
          en: 'No customer has this e-mail address.',
          vi: 'Không có khách hàng nào dùng địa chỉ email này.',
        },
      },
    })
  return found
}

const cannedOf = ({ canned, name, textEn, textVi }: ActInput<'ticket.save_canned'>) => ({
  canned,
  name,
  textEn,
  textVi,
})

export const ticketActs: RegistryOf<'ticket'> = {
  'ticket.answer': {
    kept: withoutText,
    async run(tx, { tickets: deps }, actor, { ticket, text, files, close }) {
      const closes = close === 'yes'
      const wish = { ticket, text, files, closes }
      const { row, message } = await tickets.answerTicket(tx, deps, actor, wish)
      return {
        ...about(row),
        before: { ticket: numberOf(row), state: row.state },
        after: { ticket: numberOf(row), state: closes ? 'closed' : 'answered', message },
      }
    },
  },
  'ticket.note': {
    kept: withoutText,
    async run(tx, { tickets: deps }, actor, { ticket, text, files }) {
      const { row, message } = await tickets.noteTicket(tx, deps, actor, { ticket, text, files })
      return { ...about(row), before: null, after: { ticket: numberOf(row), message } }
    },
  },
  'ticket.assign': {
    async run(tx, _needs, _actor, { ticket, member }) {
      const { row, name } = await tickets.assignTicket(tx, { ticket, member })
      return {
        ...about(row),
        before: { assignee: row.assignee_id },
        after: { ticket: numberOf(row), assignee: name },
      }
    },
  },
  'ticket.priority': {
    async run(tx, _needs, _actor, { ticket, priority }) {
      const { row, before } = await tickets.setPriority(tx, { ticket, priority })
      return {
        ...about(row),
        before: { priority: before },
        after: { ticket: numberOf(row), priority },
      }
    },
  },
  'ticket.label': {
    async run(tx, _needs, _actor, input) {
      const row = await tickets.labelTicket(tx, input)
      const after = { ticket: numberOf(row), label: input.label }
      return { ...about(row), before: null, after }
    },
  },
  'ticket.unlabel': {
    async run(tx, _needs, _actor, input) {
      const row = await tickets.unlabelTicket(tx, input)
      const before = { ticket: numberOf(row), label: input.label }
      return { ...about(row), before, after: null }
    },
  },
  'ticket.close': {
    async run(tx, { tickets: deps }, _actor, { ticket }) {
      const row = await tickets.closeTicket(tx, deps, ticket)
      return {
        ...about(row),
        before: { ticket: numberOf(row), state: row.state },
        after: { ticket: numberOf(row), state: 'closed' },
      }
    },
  },
  'ticket.reopen': {
    async run(tx, needs, _actor, { ticket }) {
      const row = await tickets.reopenTicket(tx, needs, ticket)
      return {
        ...about(row),
        before: { ticket: numberOf(row), state: row.state },
        after: { ticket: numberOf(row), state: 'open' },
      }
    },
  },
  'ticket.merge': {
    async run(tx, needs, _actor, input) {
      const { gone, row } = await tickets.mergeTicket(tx, needs, input)
      return {
        ...about(row),
        before: { ticket: numberOf(gone), messages: gone.messages },
        after: { ticket: numberOf(row), messages: gone.messages + row.messages },
      }
    },
  },
  'ticket.give': {
    async run(tx, { tickets: deps }, _actor, { ticket, to }) {
      const customerId = await customerOf(tx, to)
      const row = await tickets.giveTicket(tx, deps, { ticket, customerId })
      return {
        ...about(row),
        customerId,
        before: { ticket: numberOf(row), customer: null },
        after: { ticket: numberOf(row), customer: customerId },
      }
    },
  },
  'ticket.save_canned': {
    async run(tx, { clock }, actor, input) {
      const { id, before } = await tickets.saveCanned(tx, clock, actor.name, cannedOf(input))
      return {
        subject: { kind: 'canned_answer', id },
        before: before === null ? null : { name: before },
        after: { name: input.name },
      }
    },
  },
  'ticket.delete_canned': {
    async run(tx, _needs, _actor, { canned }) {
      const name = await tickets.deleteCanned(tx, canned)
      return { subject: { kind: 'canned_answer', id: canned }, before: { name }, after: null }
    },
  },
}
