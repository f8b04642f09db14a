/** The last line of a letter that asks for an answer: how its reader reaches us. */
import type { Language } from '../../contract/errors.ts'
import type { TicketObjectKind } from '../../contract/tickets.ts'

/** How customers reach the support. */
export interface SupportWays {
  readonly portalUrl: string
  /** Letters to it open a ticket; null: the operator takes none by mail. */
  readonly supportMail: string | null
}

/** What a ticket would be about. */
export interface AskedAbout {
  readonly kind: TicketObjectKind
  readonly id: string
}

/**
 * `about`: what a ticket would be about, or that its writer has no account any more. Without a
 * support address an answer would go to the sender of letters, where nobody may read it:
 * the line names the page that opens a ticket alone.
 */
export function howToAnswer(
  { portalUrl, supportMail }: SupportWays,
  language: Language,
  about?: AskedAbout | 'closed account',
): string {
  if (about === 'closed account') return withoutAccount({ portalUrl, supportMail }, language)
  const page = `${portalUrl}/support${about ? `?about=${about.kind}.${about.id}` : ''}`
  if (language === 'vi')
    return supportMail === null
      ? `Để liên hệ với chúng tôi, hãy gửi yêu cầu hỗ trợ tại: ${page}`
      : `Để liên hệ với chúng tôi, hãy trả lời thư này hoặc gửi yêu cầu hỗ trợ tại: ${page}`
  return supportMail === null
    ? `To reach us, open a ticket: ${page}`
    : `To reach us, answer this letter or open a ticket: ${page}`
}

/** Who has no account any more cannot open a ticket. */
function withoutAccount({ portalUrl, supportMail }: SupportWays, language: Language): string {
  const page = `${portalUrl}/register`
  if (language === 'vi')
    return supportMail === null
      ? `Để liên hệ với chúng tôi, hãy gửi yêu cầu hỗ trợ từ một tài khoản mới: ${page}`
      : 'Để liên hệ với chúng tôi, hãy trả lời thư này.'
  return supportMail === null
    ? `To reach us, open a ticket from a new account: ${page}`
    : 'To reach us, answer this letter.'
}
