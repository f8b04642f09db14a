/**
 * Rules without a database: letters read and written anew, senders, SPF, and the pauses between
 * tries.
 */
import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { describe, expect, test } from 'vitest'
import { hours, minutes } from '../../platform/clock.ts'
import { decodeWords, plainAddress, readLetter, writeLetter, type Sender } from './letter.ts'
import { delayMs } from './send.ts'
import { senderOf, usualName, type SenderNames } from './sender.ts'
import { mechanismFor, names, spfTexts, withMechanism } from './spf.ts'

const own: SenderNames = {
  own: 'shop.sites.example.net',
  proven: ['shop.vn', 'www.shop.vn'],
  usual: 'shop.vn',
}
const sender: Sender = { name: 'Shop', address: 'order@shop.vn', replyTo: null }
const at = new Date('2026-11-25T03:04:05Z')
const of = { sender, messageId: '<key@shop.vn>', at }

/** The letter that is sent. Throws its fault. */
function written(raw: string | Buffer): string {
  const letter = readLetter(Buffer.from(raw as string, 'utf8'))
  if ('fault' in letter) throw new Error(letter.fault)
  const text = writeLetter(letter, of)
  if ('fault' in text) throw new Error(text.fault)
  return text.toString('latin1')
}
const headOf = (text: string): string => text.slice(0, text.indexOf('\r\n\r\n'))
const fieldsOf = (text: string): string[] =>
  headOf(text)
    .split(/\r\n(?![ \t])/)
    .map((line) => line.slice(0, line.indexOf(':')).toLowerCase())

describe('a letter', () => {
  test('keeps what is its own, and has one of each field that the portal writes', () => {
    const text = written(
      [
        'To: An <an@x.vn>, b@x.vn',
        'Subject: Hi',
        'From: a@elsewhere.vn',
        'From: b@elsewhere.vn',
        'Sender: c@elsewhere.vn',
        'Bcc: secret@x.vn',
        'Return-Path: <x@x.vn>',
        'Received: from nowhere',
        'DKIM-Signature: v=1; d=bank.vn',
        'Authentication-Results: bank.vn; dkim=pass',
        'Message-ID: <forged@bank.vn>',
        'Date: yesterday',
        'X-Shop: 1',
        'In-Reply-To: <42@x.vn>',
        'Content-Type: text/html; charset=UTF-8',
        '',
        '<p>Xin chào</p>',
      ].join('\r\n'),
    )
    expect(headOf(text).split('\r\n')).toEqual([
      'From: "Shop" <order@shop.vn>',
      'Message-ID: <key@shop.vn>',
      'Date: Wed, 25 Nov 2026 03:04:05 +0000',
      'To: "An" <an@x.vn>, b@x.vn',
      'Subject: Hi',
      'X-Shop: 1',
      'In-Reply-To: <42@x.vn>',
      'MIME-Version: 1.0',
      'Content-Type: text/html; charset=UTF-8',
      'Content-Transfer-Encoding: 8bit',
    ])
  })

  test('whatever a program writes, no line of the header is more than it says', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom(
        'x\r\nBcc: spy@x.vn',
        'x\nFrom: boss@bank.vn',
        'x\r\n\r\n<b>text</b>',
        'a@b.vn>\r\nSender: <c@d.vn',
        '=?UTF-8?B?DQpCY2M6IHNweUB4LnZu?=',
        '\u0000\u2028\u0085',
      ),
    )
    const field = fc.tuple(
      fc.constantFrom('Subject', 'From', 'To', 'Cc', 'Reply-To', 'X-Any', 'Content-Type', 'Bcc'),
      hostile,
    )
    fc.assert(
      fc.property(fc.array(field, { maxLength: 8 }), hostile, (fields, body) => {
        const raw = `To: an@x.vn\r\n${fields
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n${body}`
        const letter = readLetter(Buffer.from(raw))
        if ('fault' in letter) return
        const text = writeLetter(letter, of)
        if ('fault' in text) return
        const head = headOf(text.toString('latin1'))
        const named = fieldsOf(text.toString('latin1'))
        for (const one of ['from', 'to', 'subject', 'message-id', 'date', 'mime-version'])
          expect(named.filter((name) => name === one)).toHaveLength(1)
        expect(named).not.toContain('bcc')
        expect(named).not.toContain('sender')
        expect(head).toContain('From: "Shop" <order@shop.vn>\r\n')
        // Printable ASCII in lines of permitted length.
        expect(head.replaceAll('\r\n', '')).toMatch(/^[\x20-\x7e]*$/)
        for (const line of text.toString('latin1').split('\r\n'))
          expect(line.length).toBeLessThanOrEqual(998)
        expect(text.toString('latin1').replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]/)
      }),
      { numRuns: 200 },
    )
  })

  test('any subject and text arrive as they were', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 120 }),
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        async (title, words) => {
          const subject = title
            .replace(/[\p{C}\s]+/gu, ' ')
            .replace(/=\?/g, '')
            .trim()
          const body = words.replace(/\p{Cc}/gu, ' ')
          const raw = `To: an@x.vn\r\nSubject: ${subject}\r\n\r\n${body}`
          const mail = await PostalMime.parse(Buffer.from(written(raw), 'latin1'))
          expect((mail.subject ?? '').replace(/ +/g, ' ').trim()).toBe(subject)
          expect((mail.text ?? '').trimEnd()).toBe(body.trimEnd())
        },
      ),
      { numRuns: 200 },
    )
  })

  test('a long line goes in Base64, and is refused where parts have their own coding', async () => {
    const long = 'rất dài '.repeat(400)
    const mail = await PostalMime.parse(
      Buffer.from(written(`To: an@x.vn\nSubject: x\n\n${long}\n`), 'latin1'),
    )
    expect(mail.text?.trim()).toBe(long.trim())
    const type = 'Content-Type: multipart/mixed; boundary=a'
    const parts = `To: an@x.vn\r\n${type}\r\n\r\n--a\r\n\r\n${long}`
    expect(() => written(parts)).toThrow('line_too_long')
    expect(() => written('no header at all')).toThrow('header_unreadable')
  })

  test('words of RFC 2047 are read, and what is none stays', () => {
    expect(decodeWords('=?UTF-8?B?xJDGoW4=?= =?UTF-8?Q?_h=C3=A0ng?=')).toBe('Đơn hàng')
    expect(decodeWords('=?nonsense?B?xJDG?= 1 = 2 ?')).toBe('=?nonsense?B?xJDG?= 1 = 2 ?')
    fc.assert(fc.property(fc.string(), (text) => typeof decodeWords(text) === 'string'))
  })
})

describe('a sender', () => {
  test('is on the site’s own names, whatever a program says', () => {
    const domain = fc.constantFrom('shop.vn', 'bank.vn', 'SHOP.VN', 'shop.vn.bank.vn', 'a.shop.vn')
    const address = fc.oneof(
      fc.tuple(fc.constantFrom('a', 'boss', 'a+b'), domain).map(([user, at]) => `${user}@${at}`),
      fc.string({ maxLength: 30 }),
    )
    fc.assert(
      fc.property(fc.option(address), fc.option(address), fc.option(address), (from, by, wish) => {
        const letter = readLetter(
          Buffer.from(`X: 1\r\n${from === null ? '' : `From: N <${from}>\r\n`}\r\n`),
        )
        if ('fault' in letter) return
        const chosen = wish === null ? null : plainAddress(wish)
        const { sender: found } = senderOf(letter, by, own, chosen)
        expect(['shop.vn', 'www.shop.vn', own.own]).toContain(found.address.split('@').at(-1))
      }),
    )
  })

  test('that looks like another address in its name loses the name', () => {
    const letter = { from: { name: 'boss@bank.vn', address: 'x@elsewhere.vn' } }
    expect(senderOf(letter, null, own, null)).toEqual({
      sender: { name: '', address: 'wordpress@shop.vn', replyTo: 'x@elsewhere.vn' },
      named: 'x@elsewhere.vn',
    })
    expect(senderOf({ from: null }, 'back@shop.vn', own, null).sender.address).toBe('back@shop.vn')
    expect(senderOf({ from: null }, null, own, 'hi@lost.vn').sender.address).toBe(
      'wordpress@shop.vn',
    )
  })

  test('is usually on the main name, without www. where that is proven too', () => {
    expect(usualName('own', [], null)).toBe('own')
    expect(usualName('own', ['www.a.vn'], 'www.a.vn')).toBe('www.a.vn')
    expect(usualName('own', ['b.vn', 'www.a.vn', 'a.vn'], 'www.a.vn')).toBe('a.vn')
    expect(usualName('own', ['b.vn', 'a.vn'], 'gone.vn')).toBe('b.vn')
  })

  test('has its domain in A-labels', () => {
    expect(plainAddress(' an@Bánh-Mì.vn ')).toBe('an@xn--bnh-m-xqa5f.vn')
    for (const wrong of ['', 'a', '@b.vn', 'a@', 'a b@c.vn', 'a@b,c', '<a@b.vn>', 'à@b.vn'])
      expect(plainAddress(wrong)).toBeNull()
  })
})

describe('SPF', () => {
  const term = 'include:_spf.relay.example'
  test('a term is added once, before what decides, and nothing else changes', () => {
    expect(withMechanism(undefined, term)).toBe(`v=spf1 ${term} ~all`)
    expect(withMechanism('v=spf1 -all', term)).toBe(`v=spf1 ${term} -all`)
    expect(withMechanism('v=spf1', term)).toBe(`v=spf1 ${term}`)
    expect(withMechanism(`v=spf1 +${term.toUpperCase()} -all`, term)).toContain('+INCLUDE')
    const word = fc.constantFrom('a', 'mx', 'include:a.vn', '-all', '~all', 'ip4:192.0.2.1', term)
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const before = ['v=spf1', ...words].join(' ')
        const after = withMechanism(before, term)
        expect(names(after, term)).toBe(true)
        expect(withMechanism(after, term)).toBe(after)
        expect(spfTexts([after])).toEqual([after])
        expect(after.split(' ').filter((one) => one !== term)).toEqual(
          before.split(' ').filter((one) => one !== term),
        )
      }),
    )
  })

  test('other texts are none', () => {
    expect(spfTexts(['v=spf10 a', 'google-site-verification=1', 'V=SPF1 a'])).toEqual(['V=SPF1 a'])
  })

  test('without the operator’s word it is the mail server’s own', () => {
    expect(mechanismFor('include:x.vn', 'smtp://mail.vn')).toBe('include:x.vn')
    expect(mechanismFor(undefined, 'smtps://u:p@mail.example.vn:465')).toBe('a:mail.example.vn')
    expect(mechanismFor(undefined, 'smtp://[2001:db8::1]:25')).toBe('ip6:2001:db8::1')
    expect(mechanismFor(undefined, undefined)).toBe('ip4:127.0.0.1')
  })
})

test('tries are a minute apart, two, four, at last four hours', () => {
  expect([1, 2, 3, 4].map(delayMs)).toEqual([1, 2, 4, 8].map(minutes))
  expect(delayMs(20)).toBe(hours(4))
})
