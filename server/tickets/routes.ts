import { deskTickets, tickets as api } from '../../contract/index.ts'
import {
  decodeRankedCursor,
  encodeCursor,
  encodeRankedCursor,
  pageRequest,
} from '../platform/cursor.ts'
import type { Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import { listCanned } from './canned.ts'
import type { TicketDeps } from './deps.ts'
import { queueOf, ticketAtDesk } from './desk.ts'
import { keepUpload, readTicketFile, receive } from './files.ts'
import { findTicket } from './store.ts'
import {
  changeState,
  nameObject,
  openTicket,
  ownTicket,
  ownTickets,
  rateTicket,
  writeInTicket,
} from './tickets.ts'

const usualLimit = 50

export interface TicketRouteDeps extends TicketDeps {
  readonly db: Database
  /** Limits per customer. */
  readonly opened: Limit
  readonly written: Limit
  readonly uploaded: Limit
}

export function routes(http: Http, deps: TicketRouteDeps): void {
  const { db, clock } = deps
  http.read(api.listTickets, async ({ customerId, query, language }) => {
    const { rows, next } = await ownTickets(db, customerId, pageRequest(query, language))
    return new Page(rows, encodeCursor(next))
  })
  http.read(api.showTicket, ({ customerId, params }) => ownTicket(db, customerId, params.id))
  http.read(api.ticketObject, ({ customerId, params }) => nameObject(db, deps, customerId, params))
  http.write(
    api.openTicket,
    ({ customerId }) => deps.opened.take(customerId),
    ({ tx, customerId, caller, body }) =>
      openTicket(tx, deps, { customerId, member: caller?.member }, body),
  )
  http.write(
    api.writeInTicket,
    ({ customerId }) => deps.written.take(customerId),
    ({ tx, customerId, caller, params, body }) =>
      writeInTicket(tx, deps, { customerId, member: caller?.member }, { id: params.id, ...body }),
  )
  http.write(api.changeTicket, ({ tx, customerId, params, body }) =>
    changeState(tx, deps, customerId, { id: params.id, state: body.state }),
  )
  http.write(api.rateTicket, ({ tx, customerId, params, body }) =>
    rateTicket(tx, deps, customerId, { id: params.id, rating: body.rating }),
  )
  http.bytes(api.uploadTicketFile, async ({ customerId, query, chunks, actionId }) => {
    await deps.uploaded.take(customerId)
    const content = await receive(chunks)
    return await keepUpload(db, clock, { customerId }, { id: actionId, name: query.name, content })
  })
  http.file(api.downloadTicketFile, async ({ customerId, params }) => {
    const { id } = await ownTicket(db, customerId, params.id)
    return await readTicketFile(db, { ticketId: id, fileId: params.file, withNotes: false })
  })

  http.read(deskTickets.ticketsOfDesk, async ({ staff, query, language }) => {
    const { rows, next } = await queueOf(db, clock, staff?.staffId ?? '', query, {
      limit: query.limit ?? usualLimit,
      after: decodeRankedCursor(query.cursor, language),
    })
    return new Page(rows, encodeRankedCursor(next))
  })
  http.read(deskTickets.ticketAtDesk, ({ params }) => ticketAtDesk(db, deps, params.id))
  http.file(deskTickets.deskTicketFile, async ({ params }) => {
    const ticket = await findTicket(db, params.id)
    if (!ticket) throw new Refusal('not_found')
    return await readTicketFile(db, { ticketId: ticket.id, fileId: params.file, withNotes: true })
  })
  http.bytes(deskTickets.uploadDeskFile, async ({ staff, query, chunks, actionId }) => {
    if (!staff) throw new Refusal('unauthenticated')
    const content = await receive(chunks)
    const by = { staffId: staff.staffId }
    return await keepUpload(db, clock, by, { id: actionId, name: query.name, content })
  })
  http.read(deskTickets.cannedAnswers, () => listCanned(db))
}
