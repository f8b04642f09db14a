/** Tickets of a test portal: the actions of customers and of a staff member. */
import { expect } from 'vitest'
import type { TicketAtDesk, TicketOfDesk } from '../contract/tickets-desk.ts'
import type { TicketWithMessages } from '../contract/tickets.ts'
import type { Answer, TestCustomer, TestPortal } from './portal.ts'
import type { TestMember } from './staff.ts'

/** Portal and member must exist when the functions are called. */
export function ticketsOf(portal: () => TestPortal, support: () => TestMember) {
  const call = <T>(of: TestCustomer, method: string, path: string, body?: object) =>
    portal().call<T>(method, `/api/tickets${path}`, {
      token: of.token,
      ...(body && { body }),
    })
  async function opened(of: TestCustomer, body: object = {}): Promise<TicketWithMessages> {
    const wish = { subject: 'My site is slow', text: 'Since this morning.', ...body }
    const answer = await call<TicketWithMessages>(of, 'POST', '', wish)
    expect(answer.status, answer.text).toBe(201)
    return answer.body.result
  }
  const shown = async (of: TestCustomer, id: string): Promise<TicketWithMessages> =>
    (await call<TicketWithMessages>(of, 'GET', `/${id}`)).body.result
  const atDesk = async (id: string): Promise<TicketAtDesk> =>
    (await support().call<TicketAtDesk>('GET', `/api/operator/tickets/${id}`)).body.result
  /** Performs an act of the staff, which must succeed. */
  async function done(name: string, body: object, by = support()): Promise<Answer<unknown>> {
    const answer = await by.act(name, body)
    expect(answer.status, answer.text).toBe(200)
    return answer
  }
  const queue = async (query = ''): Promise<TicketOfDesk[]> =>
    (await support().call<TicketOfDesk[]>('GET', `/api/operator/tickets${query}`)).body.result

  return { call, opened, shown, atDesk, done, queue }
}
