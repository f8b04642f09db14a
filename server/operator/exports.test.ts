/** Exports for accounting as the desk and the command hand them out. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../../test/operator.ts'
import { openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'

let portal: TestPortal
let finance: TestMember
let support: TestMember
beforeAll(async () => {
  portal = await openTestPortal()
  finance = await newMember(portal, 'finance')
  support = await newMember(portal, 'support')
  const an = await portal.customer()
  await portal.topUp(an, 250_000)
})
afterAll(() => portal.close())

const span = 'from=2026-01-01&to=2030-12-31'

test('finance and owner export, others do not, and a span needs two days', async () => {
  const journal = await finance.call('GET', `/api/operator/exports/journal?${span}`)
  expect(journal.status).toBe(200)
  expect(journal.headers.get('content-type')).toMatch(/^text\/csv/)
  expect(journal.headers.get('content-disposition')).toContain('journal-2026-01-01-2030-12-31.csv')
  expect(journal.text).toContain('gateway:vnpay:VND')
  expect(journal.text).toMatch(/,topup,wallet:[^,]+,[^,]+,,250000,VND,/)
  expect((await support.call('GET', `/api/operator/exports/journal?${span}`)).status).toBe(403)
  const month = 'from=2026-11-01&to=2026-11-30'
  for (const name of ['tax', 'documents', 'deferred'])
    expect((await finance.call('GET', `/api/operator/exports/${name}?${month}`)).status).toBe(200)
  for (const path_ of ['journal', 'journal?from=2026-01-01', `ledger?${span}`])
    expect((await finance.call('GET', `/api/operator/exports/${path_}`)).status).toBe(422)
})

test('a command writes the same file, once', async () => {
  const file = path.join(portal.dataDir, 'journal.csv')
  const words = ['export', 'journal', '2026-01-01', '2030-12-31', file]
  const done = await runCommand(portal, {}, ...words, '--json')
  const said = JSON.parse(done.said) as { bytes: number }
  expect(said).toMatchObject({ export: 'journal', file })
  const written = readFileSync(file, 'utf8')
  expect(Buffer.byteLength(written)).toBe(said.bytes)
  const answer = await finance.call('GET', `/api/operator/exports/journal?${span}`)
  expect(written.replace('\uFEFF', '')).toBe(answer.text.replace('\uFEFF', ''))
  expect((await runCommand(portal, {}, ...words)).code).toBe(1)
  expect((await runCommand(portal, {}, 'export', 'journal', '2026-13-01')).code).toBe(64)
})
