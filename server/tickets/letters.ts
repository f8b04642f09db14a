/**
 * Letters about tickets. A sender without an account gets the staff's answers and, if the address
 * is proven, the notice that the ticket is closed.
 */
import type { Language } from '../../contract/errors.ts'
import type { Tx } from '../platform/db.ts'
import type { TicketDeps } from './deps.ts'
import { findTicket, referenceOf, type TicketRow } from './store.ts'

/** In an answer, the text below it is older (mail/read-letter.ts). */
export const cutMarks = {
  en: '--- Please write your answer above this line ---',
  vi: '--- Vui lòng viết câu trả lời phía trên dòng này ---',
} satisfies Record<Language, string>

const vietnamese = /[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]/i
/** The language of a sender whose language is unknown, guessed from the text. */
export const languageOfText = (text: string): Language => (vietnamese.test(text) ? 'vi' : 'en')

interface Told {
  readonly number: string
  readonly subject: string
  /** The page on which a customer opens the ticket; undefined for a sender without an account. */
  readonly page: string | undefined
  readonly canAnswer: boolean
}

function footOf(of: Told, language: Language): string {
  const { number, subject, page, canAnswer } = of
  const [about, answer, open] =
    language === 'vi'
      ? [
          `Yêu cầu ${number}: ${subject}`,
          'Để trả lời, hãy trả lời thư này.',
          canAnswer ? 'Hoặc mở yêu cầu tại:' : 'Để trả lời, hãy mở yêu cầu tại:',
        ]
      : [
          `Ticket ${number}: ${subject}`,
          'To answer, answer this letter.',
          canAnswer ? 'Or open the ticket:' : 'To answer, open the ticket:',
        ]
  return [about, ...(canAnswer ? [answer] : []), ...(page === undefined ? [] : [open, page])].join(
    '\n',
  )
}

const received = {
  en: 'We have your message and will answer by letter and in the portal.',
  vi: 'Chúng tôi đã nhận được yêu cầu của bạn và sẽ trả lời qua thư và trên cổng khách hàng.',
}
const closed = {
  en: 'This ticket is closed now. Whatever you write in it opens it again.',
  vi: 'Yêu cầu này đã được đóng. Nếu bạn viết thêm, yêu cầu sẽ được mở lại.',
}
const withFiles = {
  en: (n: number) =>
    n === 1
      ? 'One file is in the ticket, in the portal.'
      : `${n} files are in the ticket, in the portal.`,
  vi: (n: number) => `Có ${n} tệp trong yêu cầu, trên cổng khách hàng.`,
}

export type Letter =
  | { readonly kind: 'received' }
  | { readonly kind: 'closed' }
  | {
      readonly kind: 'answer'
      readonly text: string
      readonly author: string
      readonly files: number
      readonly closes: boolean
    }

function bodyOf(letter: Letter, language: Language, brandName: string): string {
  if (letter.kind === 'received') return received[language]
  if (letter.kind === 'closed') return closed[language]
  const { text, author, files, closes } = letter
  return [
    `${text}\n\n${author === brandName ? brandName : `${author}, ${brandName}`}`,
    ...(files > 0 ? [withFiles[language](files)] : []),
    ...(closes ? [closed[language]] : []),
  ].join('\n\n')
}

/** To the customer; for a ticket without a customer, to the address that it came from. */
export async function sendLetter(
  tx: Tx,
  deps: TicketDeps,
  row: TicketRow,
  letter: Letter,
): Promise<void> {
  const { addresses, portalUrl, brandName } = deps
  const customer = row.customer_id === null ? undefined : await deps.customer(tx, row.customer_id)
  const to = customer?.email ?? row.sender_email
  if (to === null) return
  const language = customer?.language ?? (await languageOfSender(tx, row))
  const replyTo = addresses?.addressOf(row.number)
  const number = referenceOf(row)
  const foot = footOf(
    {
      number,
      subject: row.subject,
      page: customer && `${portalUrl}/support?ticket=${row.id}`,
      canAnswer: replyTo !== undefined,
    },
    language,
  )
  const parts = [bodyOf(letter, language, brandName), foot]
  await deps.letter(tx, {
    to,
    subject: `[${number}] ${row.subject}`,
    text: (replyTo === undefined ? parts : [cutMarks[language], ...parts]).join('\n\n'),
    replyTo,
  })
}

/** The language in which a sender without an account wrote. */
export async function languageOfSender(tx: Tx, row: TicketRow): Promise<Language> {
  const first = await tx
    .selectFrom('ticket_message')
    .select('text')
    .where('ticket_id', '=', row.id)
    .where('kind', '=', 'customer')
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst()
  return languageOfText(`${row.subject} ${first?.text ?? ''}`)
}

/** The part of events that describes a ticket. */
const said = ({ id, number, subject, state }: TicketRow) => ({
  ticket: { id, number: Number(number), subject, state },
})

/** Sends an event to the operator's endpoints, also for a ticket without a customer. */
export const tellOperator = (
  tx: Tx,
  { outbox }: Pick<TicketDeps, 'outbox'>,
  event: 'ticket.opened' | 'ticket.customer_wrote',
  row: TicketRow,
): Promise<void> =>
  outbox.tellOperator(tx, { event, customerId: row.customer_id, payload: said(row) })

/** Tells the customer's browsers and programs. */
export async function publish(
  tx: Tx,
  { outbox }: Pick<TicketDeps, 'outbox'>,
  event: 'ticket.opened' | 'ticket.answered' | 'ticket.closed' | 'ticket.reopened',
  ticketId: string,
): Promise<void> {
  const row = await findTicket(tx, ticketId)
  if (row === undefined || row.customer_id === null) return
  await outbox.publishEvent(tx, row.customer_id, event, said(row))
}
