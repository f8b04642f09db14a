/**
 * Passwords of data leaks: what leaves the portal, what is refused, and the effect of an outage.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { code, form, newcomersTo } from '../../test/newcomers.ts'
import { openTestPortal, type TestPortal } from '../../test/portal.ts'
import { invitationsOf } from '../../test/staff.ts'
import { transaction } from '../platform/db.ts'
import { createBreachCheck } from './breached-passwords.ts'

const leaked = 'Leaked-horse-2026'
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex').toUpperCase()

/** The range API: endings of the hashes that begin so, with how often each was seen. */
let ranges: Server
let isUp = true
/** Replaces every response for a range. */
let page: string | undefined
const asked: { target: string; padding: unknown }[] = []
let portal: TestPortal
beforeAll(async () => {
  ranges = createServer((request, response) => {
    asked.push({ target: request.url ?? '', padding: request.headers['add-padding'] })
    if (!isUp) return void response.writeHead(503).end()
    if (page !== undefined) return void response.end(page)
    const sums = [`${sha1(leaked)}:3861493`, `${sha1('Padding-horse-2026')}:0`]
    const prefix = request.url?.split('/').at(-1) ?? ''
    const found = sums.flatMap((line) => (line.startsWith(prefix) ? [line.slice(5)] : []))
    response.end(['0018A45C4D1DEF81644B54AB7F969B88D65:1', ...found].join('\r\n'))
  }).listen(0, '127.0.0.1')
  await once(ranges, 'listening')
  const { port } = ranges.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/range`
  portal = await openTestPortal({ env: { PWNED_PASSWORDS_URL: url } })
})
afterAll(async () => {
  await portal.close()
  ranges.close()
})
beforeEach(() => {
  isUp = true
  asked.length = 0
})
const { auth, signIn, codeFor, active } = newcomersTo(() => portal)
const refusal = [422, 'invalid_input', 'This password is known from a data leak. Choose another.']
const told = (answer: Awaited<ReturnType<typeof auth>>) => [
  ...code(answer),
  (answer.body.error as { fields?: { password?: string } } | undefined)?.fields?.password,
]

test('where one is chosen a known one is refused, and five digits of a hash leave', async () => {
  const wish = { ...form(), password: leaked }
  expect(told(await auth('register', wish))).toEqual(refusal)
  expect(asked).toEqual([{ target: `/range/${sha1(leaked).slice(0, 5)}`, padding: 'true' }])
  expect((await auth('register', { ...wish, password: 'Padding-horse-2026' })).status).toBe(201)

  const person = await active()
  const token = await signIn(person)
  const change = (password: string) =>
    portal.call('PUT', '/api/v1/account/password', {
      token,
      body: { current: person.password, password },
    })
  expect(told(await change(leaked))).toEqual(refusal)
  await auth('recover', { email: person.email })
  const mailed = await codeFor(person.email)
  const reset = (password: string) => auth('reset', { email: person.email, code: mailed, password })
  expect(told(await reset(leaked))).toEqual(refusal)
  expect((await reset('Another-horse-2026')).status).toBe(200)
})

test('a member of the staff chooses none of them either', async () => {
  const { link } = await transaction(portal.app.db, (tx) =>
    invitationsOf(portal).invite(tx, {
      name: 'Lê Hà',
      email: 'ha@operator.example',
      role: 'support',
    }),
  )
  const body = { token: new URL(link).hash.slice(1), password: leaked, code: '000000' }
  expect(told(await portal.call('POST', '/api/operator/invitation/accept', { body }))).toEqual(
    refusal,
  )
})

test('what is no range API is not asked in silence', async () => {
  const warned: string[] = []
  const log = { warn: (...said: unknown[]) => void warned.push(said.map(String).join(' ')) }
  const { port } = ranges.address() as AddressInfo
  const rangeUrl = `http://127.0.0.1:${port}/login`
  page = '<html>Sign in</html>'
  await createBreachCheck({ rangeUrl, log: log as never })(leaked, 'en')
  page = undefined
  expect(warned.join()).toContain('does not answer as a range API')
  await expect(createBreachCheck({ rangeUrl, log: log as never })(leaked, 'en')).rejects.toThrow()
})

test('while nobody answers passwords are taken, and only the first waits for it', async () => {
  isUp = false
  expect((await auth('register', { ...form(), password: leaked })).status).toBe(201)
  expect((await auth('register', { ...form(), password: leaked })).status).toBe(201)
  expect(asked).toHaveLength(1)
})
