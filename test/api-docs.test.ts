/** The examples of docs/api.md, run as they are written. */
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tokenScopes } from '../contract/token-scopes.ts'
import { orderServer } from './ordered-servers.ts'
import { openTestPortal, type TestPortal } from './portal.ts'

const page = readFileSync(path.resolve(import.meta.dirname, '../docs/api.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, text = '']) => text,
  )

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

test('each command does what the page says', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 500_000)
  const server = await orderServer(portal, an)
  const claimed = await portal.call('POST', '/api/dns', {
    token: an.token,
    body: { name: 'tap-chi-cua-an.vn' },
  })
  expect(claimed.status, claimed.text).toBe(201)
  const made = await portal.call<{ secret: string }>('POST', '/api/v1/account/tokens', {
    token: an.token,
    body: {
      name: 'the examples',
      scopes: ['servers:write', 'domains:write'],
      password: an.password,
    },
  })
  const run = promisify(execFile)
  const env = { ...process.env, PORTAL: portal.url, TOKEN: made.body.result.secret }
  const answers: { statusCode: number; result: unknown }[] = []
  for (const command of blocks('sh')) {
    const { stdout } = await run('sh', ['-ec', command], { env, timeout: 60_000 })
    answers.push(JSON.parse(stdout) as (typeof answers)[number])
  }
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 201, 201])
  expect(answers[0]?.result).toMatchObject([{ id: server.id }])
  expect(answers[1]?.result).toMatchObject({ name: 'www', data: ['192.0.2.10'] })
})

test('the example of a receiver takes what is ours and nothing else', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-api-docs-'))
  try {
    const file = path.join(folder, 'receiver.mjs')
    const [example = ''] = blocks('js')
    writeFileSync(file, example)
    const { isOurs } = (await import(pathToFileURL(file).href)) as {
      isOurs(secret: string, headers: Record<string, string>, body: string): boolean
    }
    const key = Buffer.from('a secret of thirty-two bytes, yes')
    const secret = `whsec_${key.toString('base64')}`
    const headersAt = (seconds: number, of = key) => {
      const timestamp = String(Math.floor(Date.now() / 1000) + seconds)
      const signature = createHmac('sha256', of).update(`an id.${timestamp}.{}`).digest('base64')
      return {
        'webhook-id': 'an id',
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${'A'.repeat(43)}= v1,${signature}`,
      }
    }
    expect(isOurs(secret, headersAt(0), '{}')).toBe(true)
    expect(isOurs(secret, headersAt(0), '{ }')).toBe(false)
    expect(isOurs(secret, headersAt(-301), '{}')).toBe(false)
    expect(isOurs(secret, headersAt(0, Buffer.from('another')), '{}')).toBe(false)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the page names every scope', () => {
  for (const scope of tokenScopes) expect(page).toContain(`| \`${scope}\``)
})
