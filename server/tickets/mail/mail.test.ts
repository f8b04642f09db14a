/** Letters to the support: answers, new tickets, and unwanted letters. */
import { generateKeyPairSync } from 'node:crypto'
import { createTransport, type SendMailOptions, type Transporter } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TicketOfDesk } from '../../../contract/tickets-desk.ts'
import {
  eventually,
  manualClock,
  type TestCustomer,
  type TestPortal,
} from '../../../test/portal.ts'
import { newcomersTo } from '../../../test/newcomers.ts'
import { newMember, type TestMember } from '../../../test/staff.ts'
import { dkim, openSupportMail, support, type SupportMail } from '../../../test/support-mail.ts'
import { ticketsOf } from '../../../test/ticket-world.ts'

const clock = manualClock()
let world: SupportMail
let portal: TestPortal
let an: TestCustomer
let member: TestMember
let mailServer: Transporter
beforeAll(async () => {
  world = await openSupportMail(clock)
  portal = world.portal
  an = await portal.customer()
  member = await newMember(portal, 'support', { clock })
  mailServer = createTransport({ host: '127.0.0.1', port: world.port, ignoreTLS: true })
})
afterAll(async () => {
  mailServer?.close()
  await world?.close()
})

const {
  opened,
  shown,
  atDesk,
  done: act,
  queue,
} = ticketsOf(
  () => portal,
  () => member,
)
let letters = 0
async function deliver(of: SendMailOptions): Promise<{ code: number; text: string }> {
  letters += 1
  // Resets the hourly limits before each letter.
  await portal.app.db.deleteFrom('rate_limit').execute()
  try {
    await mailServer.sendMail({
      to: support,
      subject: `Letter ${letters}`,
      text: 'Please help',
      ...of,
    })
    return { code: 250, text: '' }
  } catch (error) {
    const { responseCode = 0, response = '' } = error as {
      responseCode?: number
      response?: string
    }
    return { code: responseCode, text: response }
  }
}
const bySubject = async (subject: string): Promise<TicketOfDesk | undefined> =>
  (await queue('?state=open&limit=100')).find((one) => one.subject === subject)
interface InboxLetter {
  readonly id: string
  readonly text: string
  readonly replyTo?: string
}
const inbox = async (to: string): Promise<InboxLetter[]> =>
  (await portal.inbox(to)) as unknown as InboxLetter[]
const letterAbout = (to: string, words: string): Promise<InboxLetter> =>
  eventually(`a letter with ${words}`, async () =>
    (await inbox(to)).find(({ text }) => text.includes(words)),
  )
const count = async (): Promise<number> =>
  (await portal.app.db.selectFrom('ticket_message').select('id').execute()).length

describe('an answer', () => {
  test('in the sandbox’s inbox reaches the ticket, without what it quotes', async () => {
    const { id, number } = await opened(an)
    await act('ticket.answer', { ticket: id, text: 'Is it fast again?' })
    const letter = await letterAbout(an.email, 'Is it fast again?')
    expect(letter.replyTo).toMatch(/^ticket-[0-9a-z]+-[0-9a-f]{20}@help\.example\.net$/)
    expect(letter.text).toContain('Vui lòng viết câu trả lời phía trên dòng này')
    const answer = await fetch(`${portal.sandboxUrl}/inbox/answer`, {
      method: 'POST',
      body: new URLSearchParams({ id: letter.id, text: 'Yes, thank you.\n\nAn' }),
    })
    expect(answer.status).toBe(200)
    const ticket = await shown(an, id)
    expect(ticket.state).toBe('open')
    expect(ticket.messages.at(-1)).toMatchObject({
      author: 'Nguyễn Văn An',
      text: 'Yes, thank you.\n\nAn',
      byMail: true,
      proven: true,
    })
    expect((await atDesk(id)).number).toBe(number)
  })

  test('goes by the signed address, never by the subject', async () => {
    const { id, number } = await opened(an)
    const { replyTo } = await letterAbout(an.email, `#${number}`)
    const to = replyTo ?? ''
    const subject = `Re: [#${number}] My site is slow`
    expect((await deliver({ from: 'thief@example.com', subject })).code).toBe(250)
    expect((await shown(an, id)).messages).toHaveLength(1)
    expect((await bySubject(subject))?.customer).toBeNull()
    // One changed digit of the signature, or the number of another ticket.
    const forged = to.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@'))
    expect((await deliver({ from: an.email, to: forged })).code).toBe(550)
    const other = to.replace(/^ticket-[0-9a-z]+/, `ticket-${(number + 1).toString(36)}`)
    expect((await deliver({ from: an.email, to: other })).code).toBe(550)
    expect((await deliver({ from: an.email, to: 'boss@help.example.net' })).code).toBe(550)
    // A person who was given the address is shown as different from the customer.
    await deliver({ from: 'Bình <binh@example.com>', to, text: 'I see it as well' })
    expect((await shown(an, id)).messages.at(-1)).toMatchObject({
      author: 'binh@example.com',
      proven: false,
    })
    // Answers go to the customer alone.
    await act('ticket.answer', { ticket: id, text: 'For the customer alone' })
    await letterAbout(an.email, 'For the customer alone')
    expect(await inbox('binh@example.com')).toEqual([])
  })

  test('opens a closed ticket again, and comes in once', async () => {
    const { id, number } = await opened(an)
    await act('ticket.close', { ticket: id })
    const { replyTo } = await letterAbout(an.email, `#${number}`)
    const letter = {
      from: an.email,
      to: replyTo ?? '',
      messageId: '<once@example.vn>',
      attachments: [
        { filename: '../../etc/passwd', content: 'root' },
        { filename: 'large.bin', content: Buffer.alloc(10_000_001) },
      ],
    }
    expect((await deliver(letter)).code).toBe(250)
    expect((await deliver(letter)).code).toBe(250)
    const ticket = await shown(an, id)
    expect(ticket.state).toBe('open')
    expect(ticket.messages).toHaveLength(2)
    expect(ticket.messages[1]).toMatchObject({
      files: [{ name: 'passwd', bytes: 4 }],
      leftOut: ['large.bin'],
    })
  })

  test('to a ticket that is full is refused with a word', async () => {
    const { id, number } = await opened(an)
    const { replyTo } = await letterAbout(an.email, `#${number}`)
    await portal.app.db.updateTable('ticket').set({ messages: 300 }).where('id', '=', id).execute()
    const refused = await deliver({ from: an.email, to: replyTo ?? '' })
    expect(refused).toMatchObject({ code: 552 })
    expect(refused.text).toContain('too long')
  })
})

describe('a new letter', () => {
  test('of a customer whose address is signed for is their ticket', async () => {
    const subject = 'Trang của tôi chậm'
    await deliver({ from: `An <${an.email.toUpperCase()}>`, subject, dkim })
    const ticket = await bySubject(subject)
    expect(ticket).toMatchObject({ customer: { id: an.id }, sender: null })
    expect((await shown(an, ticket?.id ?? '')).messages[0]).toMatchObject({
      author: 'Nguyễn Văn An',
      proven: true,
    })
    // A receipt, with the address that answers go to.
    expect((await letterAbout(an.email, `#${ticket?.number}`)).replyTo).toMatch(/^ticket-/)
  })

  test('from an address that an account never confirmed is not that account’s', async () => {
    // Registration proves the phone only: the address may be a stranger's.
    const { email, token, password } = await portal.customer({ isEmailProven: false })
    await deliver({ from: email, subject: 'Before', dkim })
    expect(await bySubject('Before')).toMatchObject({ customer: null, sender: { email } })
    const call = (path: string, body: object) =>
      portal.call('POST', `/api/v1/account/email${path}`, { token, body })
    expect((await call('', { email, password })).status).toBe(200)
    const letter = await letterAbout(email, 'trang tài khoản')
    const [code] = /\b\d{6}\b/.exec(letter.text) ?? []
    expect((await call('/confirm', { code })).status).toBe(200)
    await deliver({ from: email, subject: 'After', dkim })
    expect((await bySubject('After'))?.customer).not.toBeNull()
  })

  test('opens one, where it answers a letter that asks for an answer', async () => {
    await member.act('customer.end_programs', { customer: an.id, reason: 'A token was stolen' })
    const letter = await letterAbout(an.email, 'hãy trả lời thư này hoặc gửi yêu cầu hỗ trợ tại')
    expect(letter.text).toContain(`${portal.config.portalUrl}/support`)
    expect(letter.replyTo).toBe(support)
    const subject = 'Re: Token API đã bị thu hồi'
    await deliver({ from: an.email, to: letter.replyTo ?? '', subject, dkim })
    const ticket = await bySubject(subject)
    expect(ticket).toMatchObject({ customer: { id: an.id } })
    await letterAbout(an.email, `#${ticket?.number}`)
  })

  test('with a forged sender is nobody’s, and its sender is told nothing', async () => {
    const before = (await inbox(an.email)).length
    const wrongKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const wrong = wrongKey.export({ type: 'pkcs8', format: 'pem' }) as string
    for (const [subject, forged] of [
      ['Forged without a signature', {}],
      ['Forged with a key of its own', { dkim: { ...dkim, privateKey: wrong } }],
      ['Forged by another domain', { dkim: { ...dkim, domainName: 'example.com' } }],
    ] as const) {
      await deliver({ from: an.email, subject, ...forged })
      const ticket = await bySubject(subject)
      expect(ticket).toMatchObject({
        customer: null,
        sender: { email: an.email },
      })
      const { messages, others } = await atDesk(ticket?.id ?? '')
      expect(messages.map(({ proven }) => proven)).toEqual([false])
      // Nothing about the customer is shown beside it.
      expect(others.every(({ subject: other }) => other.startsWith('Forged'))).toBe(true)
    }
    const own = await portal.call<{ subject: string }[]>('GET', '/api/tickets', {
      token: an.token,
    })
    expect(own.body.result.some(({ subject }) => subject.startsWith('Forged'))).toBe(false)
    expect((await inbox(an.email)).length).toBe(before)
  })

  test('of a stranger is answered by letter, and can be given to a customer', async () => {
    const from = 'stranger@example.org'
    await deliver({ from: `Lê Chi <${from}>`, subject: 'Tôi muốn mua máy chủ', text: 'Giá?' })
    const { id = '', number = 0 } = (await bySubject('Tôi muốn mua máy chủ')) ?? {}
    const withFile = { ticket: id, text: 'See the file', files: [id] }
    expect((await member.act('ticket.answer', withFile)).status).toBe(422)
    await act('ticket.answer', { ticket: id, text: 'Hai trăm nghìn một tháng.' })
    const letter = await letterAbout(from, 'Hai trăm nghìn')
    expect(letter.text).toContain('Vui lòng viết câu trả lời phía trên dòng này')
    // A sender without an account gets no link to the portal.
    expect(letter.text).not.toContain(portal.url)
    await deliver({ from, to: letter.replyTo ?? '', text: 'Cảm ơn' })
    expect((await atDesk(id)).messages.at(-1)).toMatchObject({ text: 'Cảm ơn', proven: true })

    const give = (to: string) =>
      member.act('ticket.give', { ticket: id, to, reason: 'Called and said so' })
    expect((await give('nobody@example.com')).status).toBe(422)
    // A registration may be deleted, and the ticket with it.
    const { email: unactivated } = await newcomersTo(() => portal).registered()
    expect((await give(unactivated)).status).toBe(422)
    expect((await give(an.email)).status).toBe(200)
    expect((await give(an.email)).status).toBe(409)
    expect((await shown(an, id)).number).toBe(number)
    await act('ticket.answer', { ticket: id, text: 'To the account now' })
    await letterAbout(an.email, 'To the account now')
    expect((await inbox(from)).some(({ text }) => text.includes('account now'))).toBe(false)
  })

  test('of nobody is closed without a letter, unless its sender was proven', async () => {
    const [forged, proven] = ['victim@example.com', 'stranger@example.vn'] as const
    await deliver({ from: forged, subject: 'Closed, unproven' })
    await act('ticket.close', { ticket: (await bySubject('Closed, unproven'))?.id })
    await deliver({ from: proven, subject: 'Closed, proven', dkim })
    const ticket = await bySubject('Closed, proven')
    expect(ticket).toMatchObject({ customer: null, sender: { email: proven } })
    await act('ticket.close', { ticket: ticket?.id })
    await letterAbout(proven, 'closed now')
    expect(await inbox(forged)).toEqual([])
  })

  test('goes with the account of the address that it came from', async () => {
    const leaving = await portal.customer()
    const { token, password } = leaving
    const [subject, other] = ['Of somebody who leaves', 'Of a stranger who stays'] as const
    await deliver({ from: leaving.email, subject })
    await deliver({ from: 'stays@example.org', subject: other })
    const [own, stays] = [await bySubject(subject), await bySubject(other)]
    const closing = await portal.call('POST', '/api/v1/account/close', {
      token,
      body: { password },
    })
    expect(closing.status, closing.text).toBe(200)
    const gone = await member.call('GET', `/api/operator/tickets/${own?.id}`)
    expect(gone.status).toBe(404)
    // The closed account is given no more tickets.
    const given = await member.act('ticket.give', {
      ticket: stays?.id,
      to: leaving.id,
      reason: 'Called and said so',
    })
    expect(given.status).toBe(422)
    expect(given.body.error?.fields?.['to']).toContain('closed the account')
  })

  test('leaves out files for which its customer has no room', async () => {
    const full = await portal.customer()
    const attachments = [{ filename: 'a.txt', content: 'a' }]
    const sent = async (subject: string) => {
      await deliver({ from: full.email, subject, dkim, attachments })
      return (await shown(full, (await bySubject(subject))?.id ?? '')).messages[0]
    }
    const [file] = (await sent('With room'))?.files ?? []
    await portal.app.db
      .updateTable('ticket_file')
      .set({ bytes: 1_000_000_000 })
      .where('id', '=', file?.id ?? '')
      .execute()
    expect(await sent('Without room')).toMatchObject({ files: [], leftOut: ['a.txt'] })
  })

  test('keeps the text of HTML alone', async () => {
    await deliver({
      from: 'web@example.org',
      subject: 'Only HTML',
      text: undefined,
      html:
        '<html><head><style>p{}</style></head><body onload="x()"><p>Hello&nbsp;there</p>' +
        '<script>alert(1)</script><img src="http://track.example/1.png"><p>a &lt;b&gt; c</p>',
    })
    const { id = '' } = (await bySubject('Only HTML')) ?? {}
    const [message] = (await atDesk(id)).messages
    expect(message?.text).toBe('Hello there\n\na <b> c')
  })

  test('of 20 MB is taken, what does not fit is named; of more than 25 MB refused', async () => {
    const attachments = Array.from({ length: 7 }, (_, n) => ({
      filename: `part${n}.bin`,
      content: Buffer.alloc(2_000_000, n + 1),
    }))
    const subject = 'Twenty megabytes'
    expect((await deliver({ from: 'big@example.org', subject, attachments })).code).toBe(250)
    const { id = '' } = (await bySubject(subject)) ?? {}
    const [message] = (await atDesk(id)).messages
    expect(message?.files.map(({ bytes }) => bytes)).toEqual(Array(5).fill(2_000_000))
    expect(message?.leftOut).toEqual(['part5.bin', 'part6.bin'])
    const tooLarge = await deliver({
      from: 'big@example.org',
      attachments: [{ filename: 'x', content: Buffer.alloc(19_000_000) }],
    })
    expect(tooLarge.code).toBe(552)
  })
})

describe('what goes round in circles', () => {
  test('is dropped: programs, lists, reports, and our own letters', async () => {
    const before = await count()
    const from = 'robot@example.org'
    for (const headers of [
      { 'Auto-Submitted': 'auto-replied' },
      { Precedence: 'bulk' },
      { 'List-Id': '<news.example.org>' },
      { 'X-Autoreply': 'yes' },
    ] as Record<string, string>[])
      expect((await deliver({ from, headers })).code).toBe(250)
    // A report has no sender.
    expect((await deliver({ from, envelope: { from: '', to: support } })).code).toBe(250)
    for (const own of [support, 'other@help.example.net', 'portal@localhost'])
      expect((await deliver({ from: own })).code).toBe(250)
    expect(await count()).toBe(before)
    // "no" is what a person's mail program may say.
    await deliver({ from, headers: { 'Auto-Submitted': 'no' } })
    expect(await count()).toBe(before + 1)
  })

  test('is slowed down: twenty letters of a sender an hour', async () => {
    const from = 'busy@example.org'
    const answers: number[] = []
    for (let n = 0; n < 21; n++)
      answers.push(
        await mailServer.sendMail({ from, to: support, subject: `Busy ${n}`, text: 'x' }).then(
          () => 250,
          (error: { responseCode: number }) => error.responseCode,
        ),
      )
    expect(answers).toEqual([...Array(20).fill(250), 450])
  })

  test('and forged ones lock nobody out', async () => {
    const { id, number } = await opened(an)
    const { replyTo } = await letterAbout(an.email, `#${number}`)
    await portal.app.db.deleteFrom('rate_limit').execute()
    const send = (of: SendMailOptions): Promise<number> =>
      mailServer.sendMail({ from: an.email, to: support, text: 'x', ...of }).then(
        () => 250,
        (error: { responseCode: number }) => error.responseCode,
      )
    const answers: number[] = []
    for (let n = 0; n < 21; n++) answers.push(await send({ subject: `Flood ${n}` }))
    expect(answers).toEqual([...Array(20).fill(250), 450])
    expect(await send({ subject: 'Not of the flood', dkim })).toBe(250)
    expect((await bySubject('Not of the flood'))?.customer).toMatchObject({ id: an.id })
    expect(await send({ to: replyTo ?? '' })).toBe(250)
    expect((await shown(an, id)).messages).toHaveLength(2)
  })

  test('and two senders are none', async () => {
    const raw = 'From: a@example.org, b@example.org\r\nSubject: Two\r\n\r\nHello\r\n'
    const envelope = { from: 'a@example.org', to: support }
    expect((await deliver({ raw, envelope })).code).toBe(550)
    const twice = raw.replace(', b@example.org', '\r\nFrom: b@example.org')
    expect((await deliver({ raw: twice, envelope })).code).toBe(550)
    expect(await bySubject('Two')).toBeUndefined()
  })
})
