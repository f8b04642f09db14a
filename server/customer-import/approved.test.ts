/** An import creates what was judged and approved, each customer once, and nothing else. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { idOf, importFile, importsOf, importUpload, previewFile } from '../../test/imports.ts'
import { runCommand } from '../../test/operator.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { noteFormer } from '../auth/former-addresses.ts'
import { transaction } from '../platform/db.ts'

let portal: TestPortal
let finance: TestMember
beforeAll(async () => {
  portal = await openTestPortal()
  finance = await newMember(portal, 'finance')
})
afterAll(() => portal.close())
const importOf = async (id: string) => (await importsOf(finance)).find((each) => each.id === id)

test('the job creates what was counted, and no row whose address came free since', async () => {
  const { db, jobs } = portal.app
  const [one, other] = [await portal.customer(), await portal.customer()]
  const free = (id: string) =>
    sql`update customer set email = ${`freed-${id}@example.vn`} where id = ${id}`.execute(db)
  const rows = Array.from({ length: 300 }, (_, n) => `few${n}@example.vn,VN,10`)
  rows[270] = `${one.email},VN,90000000`
  rows[280] = `${other.email},VN,80000000`
  const { body } = await previewFile(finance, `email,region,balance\n${rows.join('\n')}\n`)
  const id = body.result.upload ?? ''
  expect(body.result).toMatchObject({ accounts: 298, skipped: 2, needsSecond: false })
  // One address comes free before the act, the other one while the job is at work.
  await free(one.id)
  await sql`create function hold_import() returns trigger language plpgsql as
    $$ begin raise exception 'the machine is gone'; end $$`.execute(db)
  await sql`create trigger hold_it after insert on imported_customer for each row
    when (new.line = 250) execute function hold_import()`.execute(db)
  expect((await importUpload(finance, id)).body.result.state).toBe('done')
  await eventually('one batch', async () => (await importOf(id))?.done === 200)
  await free(other.id)
  await sql`drop trigger hold_it on imported_customer`.execute(db)
  await transaction(db, (tx) => jobs.add(tx, 'import-customers', { importId: id }))
  const done = await eventually('the end', async () => {
    const now = await importOf(id)
    return now?.doneAt !== null && now
  })
  expect(done).toMatchObject({ done: 300, created: 298, skipped: 2 })
  expect([await idOf(portal, one.email), await idOf(portal, other.email)]).toEqual([
    undefined,
    undefined,
  ])
  await portal.ledgerHolds()
})

test('who was imported is not credited again at an address that they changed', async () => {
  const { db } = portal.app
  const file =
    'email,region,phone,balance,reference\n' +
    'old1@example.vn,VN,0912000701,5000,M-1\nold2@example.vn,VN,,5000,\n'
  await importFile(portal, finance, file)
  for (const name of ['old1', 'old2']) {
    const address = `${name}@example.vn`
    const id = (await idOf(portal, address)) ?? ''
    if (name === 'old2')
      await transaction(db, (tx) =>
        noteFormer(tx, { now: () => new Date() }, id, { kind: 'email', address }),
      )
    await sql`update customer set email = ${`new-${address}`} where id = ${id}`.execute(db)
  }
  const again = await previewFile(finance, file.replace('M-1', 'm-1'))
  expect(again.body.result).toMatchObject({ upload: null, accounts: 0, skipped: 2, badRows: 0 })
  expect(again.body.result.skippedRows.map(({ text }) => text)).toEqual([
    'A customer with this reference was imported before.',
    'A customer who was imported had this e-mail address before.',
  ])
})

test('an import stops where its file reads otherwise than it was approved', async () => {
  const { db } = portal.app
  const begin = async (name: string, change: (file: string) => string) => {
    const file = `email,region,balance\n${name}1@example.vn,VN,10\n${name}2@example.vn,VN,20\n`
    const id = (await previewFile(finance, file)).body.result.upload ?? ''
    // As a worker of another release would read it: it changes once the act has judged it.
    await sql`create or replace function misread() returns trigger language plpgsql as
      $$ begin if new.started_at is not null and old.started_at is null then
        new.file = ${sql.lit(change(file))}; end if; return new; end $$`.execute(db)
    await sql`create or replace trigger misread_it before update on customer_import
      for each row execute function misread()`.execute(db)
    await importUpload(finance, id)
    await jobsIdle(db)
    await sql`drop trigger misread_it on customer_import`.execute(db)
    return await importOf(id)
  }
  const stopped = { created: 0, doneAt: null, stoppedAt: expect.any(String) }
  const lost = await begin('lost', (file) => file.split('\n').slice(0, 2).join('\n'))
  expect(lost).toMatchObject(stopped)
  expect(await begin('bad', (file) => file.replace('20', '1.2.3'))).toMatchObject(stopped)
  expect(await begin('more', (file) => file.replace('20', '2000'))).toMatchObject(stopped)
  expect(await idOf(portal, 'more1@example.vn')).toBeUndefined()
  const said = await runCommand(portal, {}, 'customers', 'imports')
  expect(said.said).toContain('stopped: the file reads otherwise')
})
