/** `catalog use` beside a running portal: an act, validated like a publication (decision 141). */
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { CatalogPreview } from '../../contract/operator-catalog.ts'
import type { TrailAct } from '../../contract/operator-desk.ts'
import { runCommand } from '../../test/operator.ts'
import { openTestPortal, type TestPortal } from '../../test/portal.ts'
import { change, sellingAt, shipped } from '../../test/selling.ts'
import { newMember, type TestMember } from '../../test/staff.ts'

let portal: TestPortal
let owner: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ catalogText: shipped })
  owner = await newMember(portal, 'owner')
})
afterAll(() => portal.close())

const { atDesk } = sellingAt(
  () => portal,
  () => owner,
)
/** A file with the present catalogue and one changed price. */
async function fileWith(was: string, is: string): Promise<string> {
  const { said } = await runCommand(portal, {}, 'catalog', 'show')
  expect(said).toContain(was)
  const file = path.join(portal.dataDir, 'catalog.yaml')
  writeFileSync(file, said.replace(was, is))
  return file
}
const use = async (file: string, ...words: string[]) =>
  await runCommand(portal, { CATALOG: file }, 'catalog', 'use', ...words)
const newestAct = async (): Promise<TrailAct | undefined> => {
  const { said } = await runCommand(portal, {}, 'acts', '--json')
  return (JSON.parse(said) as { acts: TrailAct[] }).acts[0]
}

test('a file with a small change counts at once, and the trail says what it changed', async () => {
  const { version } = await atDesk()
  const file = await fileWith("'82.00'", "'86.00'")
  const dry = await use(file, '--dry-run')
  expect([dry.code, dry.said]).toEqual([0, expect.stringContaining('It would be done.')])
  expect((await atDesk()).version).toBe(version)
  const { code, said } = await use(file, '--reason', 'the spring prices')
  const now = await atDesk()
  expect(now.version).toBeGreaterThan(version)
  expect([code, said]).toEqual([0, `${file} is in use, as version ${now.version}.\n`])
  expect(now.versions[0]).toMatchObject({ version: now.version, source: 'use' })
  expect(await newestAct()).toMatchObject({
    act: 'catalog.use',
    actor: 'command',
    reason: 'the spring prices',
    before: { version },
    after: { version: now.version, changes: [expect.stringContaining('82.00 → 86.00')] },
  })
})

test('small steps within a day, and prices that double, wait for a second member', async () => {
  const { version } = await atDesk()
  const step = await use(await fileWith("'86.00'", "'99.00'"))
  expect([step.code, step.said]).toEqual([0, expect.stringContaining('waits for a member')])
  const file = await fileWith("'86.00'", "'164.00'")
  const wish = ['--reason', 'the dollar fell', '--key', 'deploy-42', '--json']
  const asked = await use(file, ...wish)
  const { state, proposal } = JSON.parse(asked.said) as ActOutcome
  expect([asked.code, state, (await atDesk()).version]).toEqual([0, 'proposed', version])
  const other = await newMember(portal, 'finance')
  const at = `/api/operator/catalog/proposals/${proposal}`
  const { changes, needsSecond } = (await other.call<CatalogPreview>('GET', at)).body.result
  expect([changes, needsSecond]).toEqual([
    [{ ...change('PRO-16', 'price', '86.00', '164.00'), currency: 'USD' }],
    true,
  ])
  const approve = `/api/operator/proposals/${proposal}/approve`
  const approved = await other.call('POST', approve, {})
  expect(approved.status, approved.text).toBe(200)
  expect((await atDesk()).version).toBe(version + 1)
  expect(await newestAct()).toMatchObject({
    act: 'catalog.use',
    actor: 'command',
    approvedBy: other.name,
    reason: 'the dollar fell',
    before: { version },
  })
  // Repeating the command gives the same answer, even if another version is in use by then.
  const again = await use(file, ...wish)
  expect([again.code, JSON.parse(again.said)]).toMatchObject([0, { version: version + 1 }])
  expect((await atDesk()).version).toBe(version + 1)
  // The steps of price changes are counted from the version that a second member approved.
  expect((await use(await fileWith("'164.00'", "'170.00'"))).said).toContain('is in use')
})

test('no member has a file count from the desk', async () => {
  const { version } = await atDesk()
  const body = { file: shipped, origin: 'desk', base: version, reason: 'from the desk' }
  expect((await owner.act('catalog.use', body)).status).toBe(403)
})

test('a file with faults is named, and nothing is written', async () => {
  const { version } = await atDesk()
  const wrong = await use(await fileWith("'170.00'", "'much'"))
  expect([wrong.code, wrong.said]).toEqual([1, expect.stringMatching(/line \d+: plans/)])
  expect((await use('/nowhere/catalog.yaml')).code).toBe(1)
  expect((await use(await fileWith("'170.00'", "'171.00'"), '--reason', 'x')).code).toBe(64)
  expect((await atDesk()).version).toBe(version)
})

test('nobody is waited for where nobody could approve', async () => {
  await portal.app.db.updateTable('staff').set({ disabled_at: new Date() }).execute()
  expect((await use(await fileWith("'170.00'", "'340.00'"))).said).toContain('is in use')
})

test('where the secret of the portal is not, none is made up', async () => {
  const empty = mkdtempSync(path.join(os.tmpdir(), 'portal-no-secret-'))
  const none = { PORTAL_SECRET: undefined, DATA_DIR: empty }
  const { code, said } = await runCommand(portal, none, 'jobs', 'retry', '--all')
  expect([code, said]).toEqual([70, expect.stringContaining('There is no PORTAL_SECRET')])
  expect(readdirSync(empty)).toEqual([])
})
