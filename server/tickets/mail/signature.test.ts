/** Signatures of letters (DKIM): when they are valid, and for which domain. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { manualClock } from '../../../test/portal.ts'
import {
  dkim,
  openSupportMail,
  publicKey,
  support,
  type SupportMail,
} from '../../../test/support-mail.ts'
import { isAligned, signersOf } from './dkim.ts'

const clock = manualClock()
let world: SupportMail
beforeAll(async () => {
  world = await openSupportMail(clock)
})
afterAll(() => world.close())

/** Byte for byte, where a mail program mends the ends of lines. */
async function deliverAsItIs(raw: Buffer): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port: world.port })
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  const reply = async (): Promise<number> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error('the connection ended')
      if (/^\d{3} /.test(value)) return Number(value.slice(0, 3))
    }
  }
  try {
    await reply()
    for (const command of [
      'EHLO mail.example.vn',
      'MAIL FROM:<an@example.vn>',
      `RCPT TO:<${support}>`,
      'DATA',
    ]) {
      socket.write(`${command}\r\n`)
      expect([command, (await reply()) < 400]).toEqual([command, true])
    }
    socket.write(Buffer.concat([raw, Buffer.from('\r\n.\r\n')]))
    return await reply()
  } finally {
    socket.destroy()
  }
}

describe('a signature', () => {
  const ask = async (name: string) =>
    name === 'key._domainkey.example.vn'
      ? [`v=DKIM1; p=${publicKey.toString('base64')}`]
      : undefined
  const built = async (of: SendMailOptions = {}): Promise<Buffer> => {
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
    const sent = await transport.sendMail({
      from: 'an@example.vn',
      to: support,
      subject: 'Signed',
      text: 'Line one\n\nLine  two   \n\n\n',
      dkim,
      ...of,
    })
    return sent.message as Buffer
  }
  const changed = (raw: Buffer, from: string, to: string): Buffer =>
    Buffer.from(raw.toString('latin1').replace(from, to), 'latin1')

  test('holds for the letter as it was sent, and for no other', async () => {
    const raw = await built()
    expect(await signersOf(raw, ask, clock.now())).toEqual(['example.vn'])
    for (const [from, to] of [
      ['Line one', 'Line won'],
      ['Subject: Signed', 'Subject: Singed'],
      ['From: an@', 'From: ba@'],
      ['; c=relaxed', '; l=3; c=relaxed'],
      ['; c=relaxed', '; x=1; c=relaxed'],
    ] as const) {
      const other = changed(raw, from, to)
      expect(other.equals(raw), to).toBe(false)
      expect([to, await signersOf(other, ask, clock.now())]).toEqual([to, []])
    }
    // Spaces may change on the way, and a record may say that it is only tried out.
    const spaced = changed(raw, 'Subject: Signed', 'Subject:   Signed')
    expect(await signersOf(spaced, ask, clock.now())).toEqual(['example.vn'])
    const tried = async () => [`v=DKIM1; t=y; p=${publicKey.toString('base64')}`]
    expect(await signersOf(raw, tried, clock.now())).toEqual([])
    expect(await signersOf(raw, async () => ['v=DKIM1; p='], clock.now())).toEqual([])
    expect(await signersOf(raw, async () => undefined, clock.now())).toEqual([])
  })

  test('of Ed25519, with nothing relaxed, holds as well', async () => {
    const pair = generateKeyPairSync('ed25519')
    const { x = '' } = pair.publicKey.export({ format: 'jwk' })
    const body = 'Hello\r\n'
    const bh = createHash('sha256').update(body).digest('base64')
    const fields = 'From: an@example.vn\r\nSubject: Simple\r\n'
    const tags = 'v=1; a=ed25519-sha256; d=example.vn; s=ed; h=from:subject'
    const own = `DKIM-Signature: ${tags}; bh=${bh}; b=`
    const data = createHash('sha256').update(`${fields}${own}`).digest()
    const b = sign(null, data, pair.privateKey).toString('base64')
    const raw = Buffer.from(`${own}${b}\r\n${fields}\r\n${body}\r\n\r\n`)
    const record = async () => [
      `v=DKIM1; k=ed25519; p=${Buffer.from(x, 'base64url').toString('base64')}`,
    ]
    expect(await signersOf(raw, record, clock.now())).toEqual(['example.vn'])
    expect(await signersOf(changed(raw, 'Hello', 'Hallo'), record, clock.now())).toEqual([])
  })

  test('holds for no header that readers disagree about', async () => {
    const raw = await built()
    const from = 'From: an@example.vn\r\n'
    const withoutFrom = changed(raw, from, '')
    expect(withoutFrom.length).toBe(raw.length - from.length)
    // The signed part is after what other parsers read as the end of the header.
    const forged = (head: string, rest: Buffer): Buffer => Buffer.concat([Buffer.from(head), rest])
    for (const letter of [
      forged(`${from}\r\r\nForged\r\n`, withoutFrom),
      forged(`${from}Subject: Forged\n\nForged\r\n`, withoutFrom),
      forged(`X-A: 1\nFrom: an@example.vn\nSubject: Forged\n\nForged\r\n`, raw),
      forged('From: ba@example.vn\r\n', raw),
    ]) {
      const head = letter.toString('latin1', 0, 40)
      expect([head, await signersOf(letter, ask, clock.now())]).toEqual([head, []])
      expect([head, await deliverAsItIs(letter)]).toEqual([head, 550])
    }
    // The same letter with all of its lines whole is good.
    const whole = forged(`${from}X-A: 1\r\n`, withoutFrom)
    expect(await signersOf(whole, ask, clock.now())).toEqual(['example.vn'])
    expect(await deliverAsItIs(whole)).toBe(250)
  })

  test('speaks for its own registered domain', () => {
    expect(isAligned('example.vn', 'an@example.vn')).toBe(true)
    expect(isAligned('mail.example.vn', 'an@example.vn')).toBe(true)
    expect(isAligned('example.vn', 'an@shop.example.vn')).toBe(true)
    for (const [signer, address] of [
      ['example.com', 'an@example.vn'],
      ['com.vn', 'an@example.com.vn'],
      ['evil.github.io', 'an@good.github.io'],
      ['vn', 'an@example.vn'],
    ] as const)
      expect([signer, isAligned(signer, address)]).toEqual([signer, false])
  })
})
