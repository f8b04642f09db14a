/**
 * A letter to the support becomes an answer in a ticket, by its signed address; a ticket of the
 * customer whose address a signature proves; or a ticket without a customer (decision 113).
 */
import type { Clock } from '../../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../../platform/db.ts'
import type { Limit } from '../../platform/limits.ts'
import type { Log } from '../../platform/log.ts'
import type { TicketDeps } from '../deps.ts'
import { addFiles, judgeFiles, roomOf } from '../files.ts'
import { findTicket, lockTicket, type TicketRow } from '../store.ts'
import { beginTicket, customerWrote } from '../tickets.ts'
import { isAligned, isHeaderOfLines, signersOf, type AskTexts } from './dkim.ts'
import { readLetter, type Letter } from './read-letter.ts'
import type { ReplyAddresses } from './reply-address.ts'

export interface IntakeDeps extends TicketDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly addresses: ReplyAddresses
  readonly texts: AskTexts
  /** An active customer by whole e-mail address, whose mailbox is proven. */
  readonly customerOfMailbox: (db: Queryable, email: string) => Promise<{ id: string } | undefined>
  /** Addresses that the portal itself writes from. */
  readonly own: ReadonlySet<string>
  /** Limits per sender, separately for unproven letters, and per ticket. */
  readonly fromSender: Limit
  readonly intoTicket: Limit
}

/** `unreadable`: the sender is told; `dropped`: nobody is told. */
export type Taken = 'answer' | 'ticket' | 'dropped' | 'unreadable'

export interface Arrived {
  readonly to: string
  readonly sender: string
  /** Which it came from. */
  readonly network: string
  readonly raw: Buffer
}

const isOwn = (deps: IntakeDeps, from: string): boolean =>
  deps.own.has(from) || from.endsWith(`@${deps.addresses.domain}`)

async function isKnown(tx: Tx, { hash }: Letter): Promise<boolean> {
  const row = await tx
    .selectFrom('ticket_message')
    .select('id')
    .where('letter', '=', hash)
    .executeTakeFirst()
  return row !== undefined
}

/** Whether a letter to a ticket's signed address is of whom the ticket is. */
async function isOfTicket(db: Queryable, deps: IntakeDeps, row: TicketRow, from: string) {
  if (row.customer_id === null) return row.sender_email === from
  return (await deps.customer(db, row.customer_id)).email.toLowerCase() === from
}

/** The ticket with this number; for a merged one, the ticket that it was merged into. */
async function ticketOf(db: Queryable, number: bigint): Promise<TicketRow | undefined> {
  const row = await db
    .selectFrom('ticket')
    .select('id')
    .where('number', '=', number)
    .executeTakeFirst()
  return row && (await findTicket(db, row.id))
}

const filesFor = async (tx: Tx, customerId: string | null, { files }: Letter) =>
  judgeFiles(files, customerId === null ? Infinity : await roomOf(tx, customerId))

async function answer(tx: Tx, deps: IntakeDeps, ticketId: string, letter: Letter): Promise<Taken> {
  const row = await lockTicket(tx, ticketId)
  const { from, text, hash } = letter
  const proven = await isOfTicket(tx, deps, row, from.address)
  const customer =
    proven && row.customer_id !== null ? await deps.customer(tx, row.customer_id) : undefined
  const { kept, leftOut } = await filesFor(tx, row.customer_id, letter)
  const message = { text, byMail: true, proven, letter: hash, leftOut }
  const author = customer?.name ?? from.address
  const messageId = await customerWrote(tx, deps, row, { ...message, author })
  await addFiles(tx, deps.clock, messageId, kept)
  return 'answer'
}

async function open(tx: Tx, deps: IntakeDeps, letter: Letter, isProven: boolean): Promise<Taken> {
  const { from, subject, text, hash } = letter
  const found = isProven ? await deps.customerOfMailbox(tx, from.address) : undefined
  const author = found ? (await deps.customer(tx, found.id)).name : from.address
  const { kept, leftOut } = await filesFor(tx, found?.id ?? null, letter)
  const { messageId } = await beginTicket(tx, deps, {
    customerId: found?.id ?? null,
    sender: { email: from.address, name: from.name },
    subject,
    message: { author, text, byMail: true, proven: isProven, letter: hash, leftOut },
  })
  await addFiles(tx, deps.clock, messageId, kept)
  return 'ticket'
}

/** Refuses with rate_limited, and with invalid_input when the letter exceeds a ticket's limits. */
export async function takeLetter(
  deps: IntakeDeps,
  { to, sender, network, raw }: Arrived,
): Promise<Taken> {
  const { db, addresses } = deps
  const letter = isHeaderOfLines(raw) ? await readLetter(raw) : undefined
  if (!letter) return 'unreadable'
  const { from } = letter
  // Automatic letters get no answer, which avoids loops; delivery reports have no sender.
  if (letter.isAutomatic || sender === '' || isOwn(deps, from.address)) return 'dropped'
  const number = addresses.ticketOf(to)
  if (number !== undefined) await deps.intoTicket.take(String(number))
  const ticket = number === undefined ? undefined : await ticketOf(db, number)
  // Before the transaction, because it takes as long as foreign name servers take.
  const signers = ticket ? [] : await signersOf(raw, deps.texts, deps.clock.now())
  const isProven = ticket
    ? await isOfTicket(db, deps, ticket, from.address)
    : signers.some((signer) => isAligned(signer, from.address))
  // Unproven letters have their own count, because a forger would use up the real owner's limit.
  await deps.fromSender.take(isProven ? from.address : `unproven:${from.address} ${network}`)
  return await transaction(db, async (tx) => {
    if (await isKnown(tx, letter)) return 'dropped'
    return ticket
      ? await answer(tx, deps, ticket.id, letter)
      : await open(tx, deps, letter, isProven)
  })
}
