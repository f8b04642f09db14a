/**
 * Acts on requests about personal data (decision 125). The texts of request and answer stay out of
 * the trail, which is kept for ever.
 */
import { isUuid } from '../platform/db.ts'
import { activeCustomer, customerOfMailbox, holdOpenAccount } from '../auth/index.ts'
import type { ActInput } from '../../contract/operator-acts.ts'
import { fromVietnam } from '../platform/vietnam-time.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { decidedLetter, decideRequest, receivedLetter, receiveRequest } from '../privacy/index.ts'
import type { ActNeeds, Actor, Done, RegistryOf } from './acts.ts'

/**
 * The midnight in Vietnam with which the day begins; undefined: now. Refuses a day that is yet to
 * come.
 */
function momentOf(day: string | undefined, now: Date): Date | undefined {
  if (day === undefined) return undefined
  const at = fromVietnam(`${day}T00:00:00`)
  if (!at || at > now)
    throw new Refusal('invalid_input', {
      fields: {
        receivedOn: {
          en: 'Choose a day that is not in the future.',
          vi: 'Hãy chọn ngày không ở trong tương lai.',
        },
      },
    })
  return at
}

async function decide(
  tx: Tx,
  { clock, customerMail, mail, answerable }: ActNeeds,
  { name }: Actor,
  { request: id, told }: ActInput<'privacy.done'>,
  state: 'done' | 'refused',
): Promise<Done> {
  const of = { id, state, by: name, answer: told }
  const { request, customerId } = await decideRequest(tx, clock, of)
  if (customerId !== null) {
    const { email: to, language } = await customerMail(tx, customerId)
    const letter = decidedLetter(request, state, told, language)
    if (state === 'refused') await answerable(tx, { to, language, ...letter })
    else await mail(tx, to, letter.subject, letter.text)
  }
  const { kind, dueAt } = request
  return {
    subject: { kind: 'data_request', id },
    customerId,
    before: { kind, dueAt, state: 'open' },
    after: { kind, dueAt, state },
  }
}
const withoutTold = ({ request }: ActInput<'privacy.done'>): object => ({ request })

export const privacyActs: RegistryOf<'privacy'> = {
  'privacy.receive': {
    kept: ({ kind, receivedOn }) => ({ kind, receivedOn }),
    async run(tx, needs, { name }, { from, kind, text, receivedOn }) {
      const { clock, customerMail, mail } = needs
      const receivedAt = momentOf(receivedOn, clock.now())
      // By id where the member knows whose request it is, or by an address that is confirmed.
      const found = isUuid(from)
        ? await activeCustomer(tx, from)
        : (await customerOfMailbox(tx, from.toLowerCase()))?.id
      // A customer who is closing the account needs no answer.
      const customerId = found !== undefined && (await holdOpenAccount(tx, found)) ? found : null
      const request = await receiveRequest(tx, needs, {
        customerId,
        kind,
        text,
        askedBy: customerId === null ? from : null,
        enteredBy: name,
        ...(receivedAt && { receivedAt }),
      })
      if (customerId !== null) {
        const { email, language } = await customerMail(tx, customerId)
        const letter = receivedLetter(request, language)
        await mail(tx, email, letter.subject, letter.text)
      }
      const { id, dueAt } = request
      return {
        subject: { kind: 'data_request', id },
        customerId,
        before: null,
        after: { kind, dueAt, state: 'open' },
      }
    },
  },
  'privacy.done': {
    kept: withoutTold,
    run: (tx, needs, actor, input) => decide(tx, needs, actor, input, 'done'),
  },
  'privacy.refuse': {
    kept: withoutTold,
    run: (tx, needs, actor, input) => decide(tx, needs, actor, input, 'refused'),
  },
}
