/** How readers of a letter reach us, by what the operator takes and what they still have. */
import { expect, test } from 'vitest'
import { howToAnswer } from './answerable.ts'

const portalUrl = 'https://portal.example'
const byMail = { portalUrl, supportMail: 'support@portal.example' }
const byTicket = { portalUrl, supportMail: null }

test('a letter names an answer to it only where answers are read, and tickets for accounts', () => {
  const about = { kind: 'server', id: '7' } as const
  expect(howToAnswer(byMail, 'en', about)).toBe(
    'To reach us, answer this letter or open a ticket: ' +
      'https://portal.example/support?about=server.7',
  )
  expect(howToAnswer(byTicket, 'vi')).toBe(
    'Để liên hệ với chúng tôi, hãy gửi yêu cầu hỗ trợ tại: https://portal.example/support',
  )
  expect(howToAnswer(byMail, 'vi', 'closed account')).toBe(
    'Để liên hệ với chúng tôi, hãy trả lời thư này.',
  )
  expect(howToAnswer(byTicket, 'en', 'closed account')).toBe(
    'To reach us, open a ticket from a new account: https://portal.example/register',
  )
})
