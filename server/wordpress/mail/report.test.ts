/** Reports about letters as mail servers write them, and as an attacker writes them. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readDeliveryStatus, readReport } from './report.ts'
import { createReturnPaths } from './return-path.ts'
import { areTooManyBounced } from './suspension.ts'

const letter = (status: string): string =>
  [
    'From: MAILER-DAEMON@mx.example',
    'To: returned-1-00@returned.example.net',
    'Subject: Undelivered Mail Returned to Sender',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status;',
    '\tboundary="9B095.1764"',
    '',
    '--9B095.1764',
    'Content-Description: Notification',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'This is the mail system at host mx.example.',
    '',
    '--9B095.1764',
    'Content-Description: Delivery report',
    'Content-Type: message/delivery-status',
    '',
    status,
    '--9B095.1764',
    'Content-Type: message/rfc822',
    '',
    'From: shop@coffee.com.vn',
    'Status: 5.1.1',
    '',
    'x'.repeat(1_000),
    '--9B095.1764--',
    '',
  ].join('\r\n')
const postfix = [
  'Reporting-MTA: dns; mx.example',
  'X-Postfix-Queue-ID: 9B095',
  '',
  'Final-Recipient: rfc822; khach@nowhere.example',
  'Original-Recipient: rfc822;khach@nowhere.example',
  'Action: failed',
  'Status: 5.1.1',
  'Remote-MTA: dns; mx.nowhere.example',
  'Diagnostic-Code: smtp; 550 5.1.1 <khach@nowhere.example>: Recipient address',
  '    rejected: User unknown',
  '',
].join('\r\n')

describe('a report', () => {
  test('of Postfix says code and reason, also where its end is cut off', async () => {
    const report = {
      isPermanent: true,
      status: '5.1.1',
      said: '550 5.1.1 <khach@nowhere.example>: Recipient address rejected: User unknown',
    }
    const whole = Buffer.from(letter(postfix))
    const global = letter(postfix).replace('message/delivery', 'message/global-delivery')
    expect(await readReport(Buffer.from(global))).toEqual(report)
    expect(await readReport(whole)).toEqual(report)
    expect(await readReport(whole.subarray(0, whole.indexOf('From: shop')))).toEqual(report)
  })

  test('of Exchange, with its own type and no reason, has the code alone', () => {
    expect(
      readDeliveryStatus(
        'Reporting-MTA: dns;mail.example\n\nFinal-Recipient: RFC822;a@b.example\n' +
          'ACTION: Failed\nSTATUS: 5.2.2\n',
      ),
    ).toEqual({ isPermanent: true, status: '5.2.2', said: '5.2.2' })
  })

  test('of a letter that was tried in vain is not for good', () => {
    expect(
      readDeliveryStatus(
        'Reporting-MTA: dns; mx\n\nAction: failed\nStatus: 4.4.7\n' +
          'Diagnostic-Code: X-Local; delivery time\x07 expired\n',
      ),
    ).toEqual({ isPermanent: false, status: '4.4.7', said: '4.4.7 delivery time expired' })
    // Without a status code a failure is not taken as permanent.
    expect(readDeliveryStatus('Reporting-MTA: dns; mx\n\nAction: failed\n')?.isPermanent).toBe(
      false,
    )
  })

  test('of what is late, was delivered, or is no report says nothing', async () => {
    for (const action of ['delayed', 'delivered', 'relayed', 'expanded', ''])
      expect(
        readDeliveryStatus(`Reporting-MTA: dns; mx\n\nAction: ${action}\nStatus: 4.4.1\n`),
      ).toBeUndefined()
    // The first group is about the mail server, and not about a recipient.
    expect(readDeliveryStatus('Action: failed\nStatus: 5.1.1\n')).toBeUndefined()
    const plain = letter(postfix).replace('multipart/report', 'multipart/mixed')
    expect(await readReport(Buffer.from(plain))).toBeUndefined()
    expect(await readReport(Buffer.from('Subject: I am away\r\n\r\nUntil Monday.'))).toBe(undefined)
    expect(await readReport(Buffer.alloc(0))).toBeUndefined()
  })

  test('of any bytes, and of any that look like one, throws nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 300, unit: 'binary' }), async (text) => {
        for (const raw of [text, letter(text), letter(postfix).replace('dns', () => text)]) {
          const report = await readReport(Buffer.from(raw))
          if (!report) continue
          expect(report.status).toMatch(/^[45]\.\d{1,3}\.\d{1,3}$/)
          expect(report.said).toMatch(/^[\x20-\x7e]{1,300}$/)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('the address that a letter comes back to', () => {
  const paths = createReturnPaths('returned.example.net', 'a key')
  const anyId = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })

  test('says which letter it was, in capitals, too, and fits an address', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const address = paths.addressOf(id)
        expect(paths.mailOf(address)).toBe(id)
        expect(paths.mailOf(address.toUpperCase())).toBe(id)
        expect(address.indexOf('@')).toBeLessThanOrEqual(64)
      }),
    )
  })

  test('is believed by its signature alone', () => {
    fc.assert(
      fc.property(anyId, anyId, fc.string({ maxLength: 60 }), (id, other, text) => {
        const address = paths.addressOf(id)
        const [name = '', number = '', rest = ''] = address.split('-')
        expect(paths.mailOf(text)).toBeUndefined()
        expect(paths.mailOf(`${text}${address}x`)).toBeUndefined()
        expect(paths.mailOf(`${name}-0${number}-${rest}`)).toBeUndefined()
        if (other !== id)
          expect(paths.mailOf(`${name}-${other.toString(36)}-${rest}`)).toBeUndefined()
        const elsewhere = createReturnPaths('returned.example.net', 'another key')
        expect(paths.mailOf(elsewhere.addressOf(id))).toBeUndefined()
        expect(paths.mailOf(address.replace('returned.', 'xreturned.'))).toBeUndefined()
      }),
    )
  })
})

test('ten of fifty that are known last are too many, whenever they were sent', () => {
  const outcome = (id: number, isBounced: boolean, at: number) => ({
    id: BigInt(id),
    isBounced,
    at: new Date(at),
  })
  const sent = Array.from({ length: 60 }, (_, id) => outcome(id, false, id))
  const back = (count: number) => Array.from({ length: count }, (_, id) => outcome(id, true, 100))
  expect(areTooManyBounced([...sent, ...back(9)])).toBe(false)
  expect(areTooManyBounced([...sent, ...back(10)])).toBe(true)
  // Fifty delivered since make up for it.
  const since = Array.from({ length: 50 }, (_, id) => outcome(100 + id, false, 200))
  expect(areTooManyBounced([...sent, ...back(10), ...since])).toBe(false)
})
