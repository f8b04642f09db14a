/**
 * Letters of WordPress itself, on PHP: from a plugin's page, and to a user who has lost a password.
 */
import http from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mailServersOf, type MailServer } from '../../../test/mail-world.ts'
import { eventually, openTestPortal, type TestPortal } from '../../../test/portal.ts'

let portal: TestPortal
let an: MailServer
beforeAll(async () => {
  portal = await openTestPortal({
    wordpress: 'real',
    env: { SITES_DOMAIN: 'sites.example.net' },
  })
  an = await server()
}, 240_000)
afterAll(() => portal.close(), 60_000)
const { put, server, visit, send, became, raw, header } = mailServersOf(() => portal)

const plugin = `<?php
require __DIR__ . '/wp-load.php';
file_put_contents( '/tmp/menu.txt', 'Thực đơn hôm nay' );
var_export( wp_mail( array( 'khach@example.vn', 'Bình <binh@example.vn>' ), 'Đơn hàng số 9',
	'<p>Cảm ơn bạn!</p>', array( 'Content-Type: text/html; charset=UTF-8',
	'Reply-To: Quán <quan@example.vn>', 'Bcc: so@example.vn' ), array( '/tmp/menu.txt' ) ) );
`
/** Sends a form as a browser does. */
const post = (target: string, form: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const body = new URLSearchParams(form).toString()
    const request = http.request(
      {
        host: '127.0.0.1',
        port: portal.config.SITES_PORT,
        path: target,
        method: 'POST',
        headers: {
          host: `${an.name}.sites.example.net`,
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': Buffer.byteLength(body),
        },
        agent: false,
      },
      (answer) => {
        answer.resume()
        answer.once('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    request.once('error', reject)
    request.end(body)
  })

test(
  'wp_mail of a plugin arrives: HTML, file, answer’s address and all',
  { timeout: 120_000 },
  async () => {
    put(an, 'wp-content/shop-page.php', plugin.replace('__DIR__', 'dirname( __DIR__ )'))
    expect((await visit(an, '/wp-content/shop-page.php')).text).toBe('true')
    for (const to of ['khach@example.vn', 'binh@example.vn', 'so@example.vn'])
      expect(await became(an, to, 'sent')).toMatchObject({
        from: `wordpress@${an.name}.sites.example.net`,
        subject: 'Đơn hàng số 9',
      })
    expect(await header('khach@example.vn', 'from')).toBe(
      `"WordPress" <wordpress@${an.name}.sites.example.net>`,
    )
    expect(await header('khach@example.vn', 'to')).toMatch(/^khach@example\.vn, =\?UTF-8\?B\?/)
    expect(await header('khach@example.vn', 'reply-to')).toContain('<quan@example.vn>')
    const whole = (await raw('khach@example.vn')).toString('latin1')
    expect(whole).toContain('Content-Type: multipart/mixed')
    expect(whole).toContain('filename=menu.txt')
    expect(whole).toContain(Buffer.from('Thực đơn hôm nay').toString('base64'))
    expect(whole).not.toContain('so@example.vn')
  },
)

test('who has lost a password gets the letter', { timeout: 120_000 }, async () => {
  const email = an.owner.email
  expect(await post('/wp-login.php?action=lostpassword', { user_login: 'an' })).toBe(302)
  const letter = await eventually('the letter', async () =>
    (await portal.inbox(email)).find(({ text }) => text.includes('action=rp')),
  )
  expect(letter.text).toContain(`${an.name}.sites.example.net`)
})

test('an address that is none is said no to at once', { timeout: 60_000 }, async () => {
  expect(await send(an, { to: 'nobody' })).toBe(false)
  expect(await send(an, { to: 'an@example.vn', headers: 'X: 1\r\n\r\nBcc: b@example.vn' })).toBe(
    false,
  )
})
