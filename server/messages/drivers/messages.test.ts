/** SMS and mail through the sandbox's own protocols, and what the drivers make of refusals. */
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startSandbox, type Sandbox } from '../../../sandbox/index.ts'
import { testDatabase } from '../../../test/database.ts'
import { esmsPhone, gsmText } from './esms/convert.ts'
import { createMailDriver, createSmsDriver } from './index.ts'

const keys = { apiKey: 'KEY', secretKey: 'TOPSECRET' }
let sandbox: Sandbox
let database: Awaited<ReturnType<typeof testDatabase>>
beforeAll(async () => {
  database = await testDatabase()
  sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: database.url,
    portalUrl: 'http://127.0.0.1:9',
    gateways: { vnpay: { tmnCode: 'DEMO0001', secret: 's' } },
    esms: keys,
    log: () => undefined,
  })
})
afterAll(async () => {
  await sandbox?.close()
  await database?.drop()
})

interface Message {
  readonly to: string
  readonly channel: string
  readonly text: string
  readonly at: string
}
const inbox = async (to: string): Promise<Message[]> =>
  (await (await fetch(`${sandbox.url}/inbox.json?to=${to}`)).json()) as Message[]
const sms = (changes: object = {}): ReturnType<typeof createSmsDriver> =>
  createSmsDriver('esms', { ...keys, brandname: 'PORTAL', url: `${sandbox.url}/esms`, ...changes })
const mail = (changes: object = {}): ReturnType<typeof createMailDriver> =>
  createMailDriver('smtp', {
    url: sandbox.smtpUrl,
    from: 'Cổng khách hàng <no-reply@portal.example.vn>',
    ...changes,
  })
const failing = async (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => 'sent',
    (error: { kind?: string }) => error.kind,
  )

const servers: Server[] = []
const sockets: Socket[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  for (const socket of sockets.splice(0)) socket.destroy()
})
async function listening(server: Server): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
async function closedPort(): Promise<number> {
  const port = await listening(createTcpServer())
  await new Promise((resolve) => servers.pop()?.close(resolve))
  return port
}

describe('esms', () => {
  it('sends a text that the inbox finds under every spelling of the number', async () => {
    await sms().send({
      to: '+84912345678',
      text: 'Mã xác nhận của bạn là 123456',
      idempotencyKey: 'otp:1',
    })
    for (const to of [
      '%2B84912345678',
      '+84912345678',
      '84912345678',
      '0912345678',
      '0912%20345%20678',
      '0084912345678',
    ]) {
      expect(await inbox(to), to).toEqual([
        {
          to: '+84912345678',
          channel: 'sms',
          text: 'Ma xac nhan cua ban la 123456',
          at: expect.any(String) as string,
        },
      ])
    }
    expect(await inbox('0999999999')).toEqual([])
  })

  it('is one message for one idempotency key, newest first for others', async () => {
    const message = { to: '+61412345678', text: 'Hello', idempotencyKey: 'k1' }
    await sms().send(message)
    await sms().send(message)
    await sms().send({ ...message, text: 'Again', idempotencyKey: 'k2' })
    expect((await inbox('%2B61412345678')).map(({ text }) => text)).toEqual(['Again', 'Hello'])
  })

  it('is rejected with wrong keys, for no number, for nothing and for too much', async () => {
    const message = { to: '+84912000000', text: 'x', idempotencyKey: 'bad' }
    expect(await failing(sms({ secretKey: 'OTHER' }).send(message))).toBe('rejected')
    expect(await failing(sms().send({ ...message, to: '0912000000' }))).toBe('rejected')
    expect(await failing(sms().send({ ...message, text: ' ' }))).toBe('rejected')
    expect(await failing(sms().send({ ...message, text: 'x'.repeat(161) }))).toBe('rejected')
    expect(await failing(sms().send({ ...message, text: 'ệ'.repeat(160) }))).toBe('sent')
  })

  it('is unavailable when eSMS is away, silent, empty or in trouble', async () => {
    const message = { to: '+84912000001', text: 'x', idempotencyKey: 'trouble' }
    expect(
      await failing(sms({ url: `http://127.0.0.1:${await closedPort()}` }).send(message)),
    ).toBe('unavailable')
    const silent = await listening(createTcpServer((socket) => sockets.push(socket)))
    expect(
      await failing(sms({ url: `http://127.0.0.1:${silent}`, timeoutMs: 80 }).send(message)),
    ).toBe('unavailable')
    for (const [answer, kind] of [
      ['{"CodeResult":"99"}', 'unavailable'],
      ['{"CodeResult":"103"}', 'unavailable'],
      ['<html>', 'unavailable'],
      ['{}', 'unavailable'],
      ['null', 'unavailable'],
      ['{"CodeResult":"104"}', 'rejected'],
      ['{"CodeResult":124}', 'sent'],
    ] as const) {
      const port = await listening(
        createServer((request, response) => request.resume().on('end', () => response.end(answer))),
      )
      expect(await failing(sms({ url: `http://127.0.0.1:${port}` }).send(message)), answer).toBe(
        kind,
      )
    }
  })

  it('folds every text into plain letters, and writes numbers as eSMS takes them', () => {
    expect(gsmText('Đã nhận 50.000 đ – “cảm ơn” bạn…')).toBe('Da nhan 50.000 d - "cam on" ban...')
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) =>
        /^[\n\x20-\x7e]*$/.test(gsmText(text)),
      ),
    )
    expect(['+84912345678', '+61412345678', '84912345678', '+0123', ''].map(esmsPhone)).toEqual([
      '0912345678',
      '61412345678',
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('smtp', () => {
  const texts: readonly (readonly [string, string])[] = [
    ['Welcome', 'Plain text.\nTwo lines.'],
    [
      'Xác nhận địa chỉ e-mail của bạn để bắt đầu sử dụng dịch vụ lưu trữ WordPress',
      'Chào Nguyễn Thị Ánh,\n\nMã của bạn: 123456\n.một dòng bắt đầu bằng dấu chấm\n= bằng ' +
        '=3D\n\nTrân trọng',
    ],
    [
      '日本語の件名 😀 with some ASCII, and more of it, so that the header has to be folded',
      `${'đ'.repeat(300)} ${'x'.repeat(1200)}\n漢字 😀\ttab`,
    ],
  ]
  it.each(texts)('keeps the subject and the text: %s', async (subject, text) => {
    const to = `anh+${subject.length}@example.vn`
    await mail().send({ to, subject, text, idempotencyKey: `mail:${subject}` })
    for (const spelling of [encodeURIComponent(to), to, to.toUpperCase()]) {
      expect(await inbox(spelling)).toEqual([
        { to, channel: 'mail', text: `${subject}\n\n${text}`, at: expect.any(String) as string },
      ])
    }
  })

  it('carries any text through', async () => {
    let count = 0
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        async (title, body) => {
          // a header is one line, and neither keeps white space at its ends
          const subject = `S ${title.replace(/[\s\p{C}]+/gu, ' ')} E`
          const text = `S ${body.replace(/\p{Cc}/gu, ' ')} E`
          const to = `any${(count += 1)}@example.vn`
          await mail().send({ to, subject, text, idempotencyKey: to })
          const [message] = await inbox(to)
          expect(message?.text.replace(/ +/g, ' ')).toBe(
            `${subject}\n\n${text}`.replace(/ +/g, ' '),
          )
        },
      ),
      { numRuns: 25 },
    )
  })

  it('gives one key one Message-ID', async () => {
    const message = { to: 'twice@example.vn', subject: 'a', text: 'b', idempotencyKey: 'same' }
    await mail().send(message)
    await mail().send(message)
    expect(await inbox('twice@example.vn')).toHaveLength(1)
  })

  it('takes one plain receiver only, and no header through the subject', async () => {
    const message = { to: 'a@example.vn', subject: 'a', text: 'b', idempotencyKey: 'x' }
    for (const to of ['', 'a', 'a@b.vn, c@d.vn', 'A <a@b.vn>', 'a@b.vn\r\nBcc: c@d.vn'])
      expect(await failing(mail().send({ ...message, to }))).toBe('rejected')
    await mail().send({ ...message, to: 'inject@example.vn', subject: 'Hi\r\nBcc: spy@example.vn' })
    expect(await inbox('spy@example.vn')).toEqual([])
  })

  it('is unavailable when away or "later", rejected when refused, unclear if lost', async () => {
    const message = { to: 'a@example.vn', subject: 'a', text: 'b', idempotencyKey: 'x' }
    expect(
      await failing(mail({ url: `smtp://127.0.0.1:${await closedPort()}` }).send(message)),
    ).toBe('unavailable')
    const talking = (answers: Readonly<Record<string, string>>): Promise<number> =>
      listening(
        createTcpServer((socket) => {
          sockets.push(socket)
          socket.on('error', () => undefined).write('220 hello\r\n')
          let inText = false
          socket.on('data', (data: Buffer) => {
            const line = data.toString()
            const verb = inText ? 'TEXT' : line.slice(0, 4)
            if (inText && !line.endsWith('.\r\n')) return
            inText = verb === 'DATA'
            const answer = answers[verb] ?? (verb === 'DATA' ? '354 go' : '250 ok')
            if (answer === 'cut') socket.destroy()
            else socket.write(`${answer}\r\n`)
          })
        }),
      )
    for (const [answers, kind] of [
      [{}, 'sent'],
      [{ RCPT: '550 no such user' }, 'rejected'],
      [{ RCPT: '451 later' }, 'unavailable'],
      [{ TEXT: 'cut' }, 'unclear'],
      [{ MAIL: 'cut' }, 'unclear'],
    ] as const) {
      const url = `smtp://127.0.0.1:${await talking(answers)}`
      expect(
        await failing(mail({ url, timeoutMs: 2000 }).send(message)),
        JSON.stringify(answers),
      ).toBe(kind)
    }
  })
})

it('ends a conversation that a server draws out, whatever it says in time', async () => {
  let closed = 0
  const drip = createTcpServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.write('220 slow.example ESMTP\r\n')
    // Never silent, and never done.
    const line = setInterval(() => socket.write('250-one more moment\r\n'), 20)
    socket.on('data', () => undefined)
    socket.on('close', () => {
      closed++
      clearInterval(line)
    })
  })
  const slow = mail({
    url: `smtp://127.0.0.1:${await listening(drip)}`,
    timeoutMs: 5_000,
    conversationMs: 300,
  })
  const letter = { to: 'an@example.vn', subject: 'x', text: 'x', idempotencyKey: 'slow' }
  expect(await failing(slow.send(letter))).toBe('unclear')
  const raw = Buffer.from('Subject: x\r\n\r\nx\r\n')
  const relayed = { from: 'a@example.vn', to: 'b@example.vn', raw, signKey: undefined }
  expect(await slow.relay(relayed)).toMatchObject({ outcome: 'later' })
  // Nobody goes on sending behind the answer's back.
  await expect.poll(() => closed).toBe(2)
})

describe('settings', () => {
  it('refuse what cannot work', () => {
    for (const changes of [
      { apiKey: ' ' },
      { secretKey: '' },
      { brandname: '' },
      { url: 'nonsense' },
    ])
      expect(() => sms(changes)).toThrow()
    for (const changes of [
      { url: 'http://x/' },
      { url: '' },
      { from: 'nobody' },
      { from: 'a@b\r\nBcc: c@d' },
    ])
      expect(() => mail(changes)).toThrow()
  })
})
