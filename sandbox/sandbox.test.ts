/**
 * Tests of the sandbox as a whole: its pages, two instances, and a database that comes and goes.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testDatabase } from '../test/database.ts'
import { startSandbox, type Sandbox, type SandboxOptions } from './index.ts'
import { receiverKey } from './inbox.ts'
import { readMail } from './mime.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
let sandboxes: Sandbox[] = []
const logged: string[] = []
const options = (port = 0): SandboxOptions => ({
  host: '127.0.0.1',
  port,
  databaseUrl: database.url,
  portalUrl: 'http://127.0.0.1:9',
  gateways: { vnpay: { tmnCode: 'DEMO0001', secret: 's' } },
  esms: { apiKey: 'KEY', secretKey: 'SECRET' },
  log: (line) => logged.push(line),
})
const open = (port = 0): Promise<Sandbox> => startSandbox(options(port))
const sendSms = async (sandbox: Sandbox, changes: object = {}): Promise<{ CodeResult: string }> => {
  const body = JSON.stringify({
    ApiKey: 'KEY',
    SecretKey: 'SECRET',
    Phone: '0912345678',
    Content: 'Code 123456',
    Brandname: 'P',
    SmsType: '2',
    IsUnicode: '0',
    Sandbox: '0',
    RequestId: 'r',
    ...changes,
  })
  return (await (
    await fetch(`${sandbox.url}/esms/MainService.svc/json/SendMultipleMessage_V4_post_json/`, {
      method: 'POST',
      body,
    })
  ).json()) as { CodeResult: string }
}

beforeAll(async () => {
  database = await testDatabase()
  // Two portals that start at the same time on one empty database.
  sandboxes = await Promise.all([open(), open()])
})
afterAll(async () => {
  for (const sandbox of sandboxes) await sandbox.close()
  await database?.drop()
})
const first = (): Sandbox => sandboxes[0] as Sandbox

describe('the sandbox', () => {
  it('says what it is, and that it is well', async () => {
    const home = await fetch(first().url)
    expect(home.headers.get('content-security-policy')).not.toContain('unsafe')
    const html = await home.text()
    for (const text of ['SANDBOX', '/inbox', '/vnpay/', '/esms/']) expect(html).toContain(text)
    expect(await (await fetch(`${first().url}/healthz`)).json()).toEqual({ status: 'ok' })
    for (const [asset, type] of [
      ['css', 'text/css'],
      ['js', 'text/javascript'],
      ['svg', 'image/svg+xml'],
    ]) {
      const response = await fetch(`${first().url}/assets/sandbox.${asset}`)
      expect(response.headers.get('content-type')).toContain(type)
    }
    expect((await fetch(`${first().url}/nowhere`)).status).toBe(404)
  })

  it('refuses a body that is too large', async () => {
    const response = await fetch(
      `${first().url}/esms/MainService.svc/json/SendMultipleMessage_V4_post_json/`,
      {
        method: 'POST',
        body: 'x'.repeat(70_000),
      },
    )
    expect(response.status).toBe(413)
  })

  it('fails to start on a port that is taken, and leaves nothing open', async () => {
    await expect(open(Number(new URL(first().url).port))).rejects.toThrow(/EADDRINUSE/)
  })

  it('goes on when the database has cut all its connections', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await fetch(`${first().url}/inbox.json`)
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
        and application_name = 'sandbox'`,
    )
    await client.end()
    await expect.poll(async () => (await fetch(`${first().url}/healthz`)).status).toBe(200)
    expect((await fetch(`${first().url}/inbox.json`)).status).toBe(200)
  })

  it('does not start without its database', async () => {
    const nowhere = { ...options(), databaseUrl: 'postgresql://nobody@127.0.0.1:1/nothing' }
    await expect(startSandbox(nowhere)).rejects.toThrow(/ECONNREFUSED/)
  })
})

describe('eSMS', () => {
  it('answers in its codes', async () => {
    expect(await sendSms(first())).toMatchObject({
      CodeResult: '100',
      SMSID: expect.any(String) as string,
    })
    expect(await sendSms(first())).toMatchObject({ CodeResult: '124' })
    expect(await sendSms(first(), { SecretKey: 'x' })).toMatchObject({ CodeResult: '101' })
    expect(await sendSms(first(), { Brandname: '' })).toMatchObject({ CodeResult: '104' })
    for (const changes of [
      { Phone: '+84912' },
      { Content: '' },
      { Content: 'Mã' },
      { Content: 'x'.repeat(613) },
    ])
      expect((await sendSms(first(), { RequestId: 'n', ...changes })).CodeResult).toBe('99')
    expect(await sendSms(first(), { Sandbox: '1', RequestId: 'test only' })).toMatchObject({
      CodeResult: '100',
    })
  })
})

describe('the inbox', () => {
  it('shows messages to a person, escaped, with links, and to a program', async () => {
    await sendSms(first(), {
      Phone: '0987654321',
      Content: '<b>bold</b> https://portal.example.vn/verify?a=1&b=2',
      RequestId: 'html',
    })
    const html = await (await fetch(`${first().url}/inbox?to=0987654321`)).text()
    expect(html).toContain('&lt;b&gt;bold&lt;/b&gt;')
    expect(html).toContain('<a href="https://portal.example.vn/verify?a=1&amp;b=2"')
    expect(html).toContain('+84987654321')
    const all = (await (await fetch(`${first().url}/inbox.json`)).json()) as {
      to: string
      at: string
    }[]
    expect(all[0]?.to).toBe('+84987654321')
    expect(Date.parse(all[0]?.at ?? '')).toBeGreaterThan(Date.now() - 60_000)
    expect((await fetch(`${first().url}/inbox?to=%22%3E%3Cscript%3E`)).status).toBe(200)
  })

  it('knows one receiver under all its spellings', () => {
    for (const spelling of [
      '+84912345678',
      ' 84912345678',
      '84912345678',
      '0912345678',
      '0084912345678',
      '0912-345-678',
    ])
      expect(receiverKey(spelling)).toBe('84912345678')
    for (const spelling of ['A+b@Example.vn', 'a b@example.vn', ' a+b@example.vn '])
      expect(receiverKey(spelling)).toBe('a+b@example.vn')
  })
})

describe('mails', () => {
  it('are read with folded and split headers, three encodings and parts inside parts', async () => {
    const subject = async (written: string): Promise<string> =>
      (await readMail(Buffer.from(`Subject: ${written}\r\n\r\n`))).subject
    expect(await subject('=?UTF-8?Q?M=C3=A3_x=C3=A1c?= =?UTF-8?B?IG5o4bqtbg==?=')).toBe(
      'Mã xác nhận',
    )
    // One character split over two encoded words.
    expect(await subject('=?UTF-8?Q?=C3?=\t=?UTF-8?Q?=A3?= plain')).toBe('ã plain')
    expect(await subject('a\r\n b')).toBe('a b')
    const part = (encoding: string, body: string): string =>
      `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n` +
      `\r\n${body}\r\n`
    const mail = async (body: string): Promise<string> =>
      (await readMail(Buffer.from(`Message-ID: <1@x>\r\n${body}`))).text
    expect(await mail(part('7bit', 'plain'))).toBe('plain')
    expect(await mail(part('8bit', 'Mã'))).toBe('Mã')
    expect(await mail(part('base64', Buffer.from('Mã').toString('base64')))).toBe('Mã')
    expect(await mail(part('quoted-printable', 'M=C3=\r\n=A3 =3D'))).toBe('Mã =')
    const inner =
      'Content-Type: multipart/alternative; boundary="i"\r\n\r\n--i\r\nContent-Type: ' +
      `text/html\r\n\r\n<p>no</p>\r\n--i\r\n${part('7bit', 'yes')}\r\n--i--\r\n`
    expect(
      await mail(
        `Content-Type: multipart/mixed;\r\n boundary="o"\r\n\r\n--o\r\n${inner}\r\n--o\r\n` +
          'Content-Type: application/pdf\r\n\r\nx\r\n--o--\r\n',
      ),
    ).toBe('yes')
    expect(await readMail(Buffer.from(''))).toEqual({
      subject: '',
      text: '',
      messageId: '',
      replyTo: null,
    })
    const answered = await readMail(Buffer.from('Reply-To: Help <help@x.example>\r\n\r\n'))
    expect(answered.replyTo).toBe('help@x.example')
    expect((await readMail(Buffer.from('Message-ID: <1@x>\r\n\r\n'))).messageId).toBe('<1@x>')
  })
})
