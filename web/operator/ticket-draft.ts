/** What a member is writing in a ticket. It stays in this tab until it is sent or emptied. */
import * as z from 'zod/mini'

const Draft = z.object({ mode: z.enum(['answer', 'note']), text: z.string() })
export type TicketDraft = z.output<typeof Draft>

/** Two members may share a browser: each has drafts of their own. */
const storedAs = (ticket: string, member: string): string => `desk-ticket ${ticket} ${member}`

export function storedTicketDraft(ticket: string, member: string): TicketDraft | undefined {
  try {
    const text = sessionStorage.getItem(storedAs(ticket, member))
    return text === null ? undefined : Draft.safeParse(JSON.parse(text)).data
  } catch {
    // Storage is blocked or damaged, so there is no draft.
    return undefined
  }
}
/** An empty draft is removed. */
export function keepTicketDraft(ticket: string, member: string, draft: TicketDraft): void {
  try {
    if (draft.text === '') sessionStorage.removeItem(storedAs(ticket, member))
    else sessionStorage.setItem(storedAs(ticket, member), JSON.stringify(draft))
  } catch {
    // Without storage the draft lasts as long as the page.
  }
}
