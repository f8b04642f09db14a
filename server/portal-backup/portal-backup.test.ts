/**
 * A portal with a customer, their money and their server is saved while it runs; the machine is
 * lost; the portal comes up from the backup, and the customer notices nothing.
 */
import { archivesIn } from '../wordpress/index.ts'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { startS3 } from '../../sandbox/s3/index.ts'
import { verifyStatement } from '../../scripts/verify-statement.mjs'
import { withDatabase } from '../../test/cluster.ts'
import { runCommand, startCommand } from '../../test/operator.ts'
import { eventually, type TestPortal } from '../../test/portal.ts'
import { openSavedWorld, type SavedWorld } from '../../test/saved-world.ts'
import { transaction } from '../platform/db.ts'
import { folderStore } from '../platform/object-store/index.ts'
import { loadDatabase, refuseUnlessEmpty } from './load.ts'
import { makeBackup } from './make.ts'
import { backupsIn, openBackup, type Manifest } from './manifest.ts'
import { pruneBackups } from './prune.ts'
import { s3Store } from '../platform/object-store/s3-store.ts'
import { refuseUnfinishedRestore } from './restore.ts'
import type { ObjectStore } from '../platform/object-store/index.ts'
import { BackupFault } from './fault.ts'
import { checkFiles, readerOf } from './verify.ts'

const passphrase = 'một câu dài mà không ai đoán được'
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-backup-'))
// As root, the sites and the database are other users, who must be able to enter.
fs.chmodSync(scratch, 0o755)
const place = (name: string): string => path.join(scratch, name)
const saved = place('saved')

let world: SavedWorld
let portal: TestPortal

const command = (...args: string[]) =>
  runCommand(portal, { BACKUP_PASSPHRASE: passphrase }, ...args)
const partsTo = (store: ObjectStore) => ({
  store,
  databaseUrl: portal.databaseUrl,
  archives: archivesIn(path.join(portal.dataDir, 'backups')),
  secret: portal.rootSecret,
  passphrase,
  now: new Date(),
})

vi.setConfig({ testTimeout: 240_000 })

beforeAll(async () => {
  world = await openSavedWorld({ env: { BACKUP_PASSPHRASE: passphrase } })
  portal = world.portal
}, 180_000)
afterAll(async () => {
  await portal.close()
  fs.rmSync(scratch, { recursive: true, force: true })
})

test('a command saves it while it runs, with an archive of a server that had none', async () => {
  const { code, said } = await command('backup', saved, '--json')
  expect([code, said]).toEqual([0, expect.stringMatching(/^\{.*\}\n$/)])
  expect(JSON.parse(said)).toMatchObject({ sites: 1, notSaved: [], rows: expect.any(Number) })
  const { manifest } = await openBackup(folderStore(saved), passphrase)
  expect(manifest.sites).toMatchObject([{ siteId: world.siteId }])
  const rowsOf = (name: string) => manifest.tables.find((table) => table.name === name)?.rows
  expect([rowsOf('customer'), rowsOf('site'), rowsOf('root_secret')]).toEqual([1, 1, 1])
  expect(rowsOf('schedule')).toBeGreaterThan(5)
  expect(manifest.ledger).toContainEqual(
    expect.objectContaining({ currency: 'VND', sum: '0', wallets: '682000' }),
  )
  // The secret is not readable in it.
  const secret = fs.readFileSync(path.join(saved, manifest.id, 'secret.json'), 'utf8')
  expect(secret).not.toContain(portal.rootSecret)
})

test('it is verified: files, rows, books, secret, and the site from its archive', async () => {
  const { code, said } = await command('verify-backup', saved)
  expect(said).toMatch(/files are what was written\./)
  expect(said).toMatch(/\d+ tables came up with \d+ rows\./)
  expect(said).toMatch(/The secret opens what the database keeps sealed\./)
  expect(said).toMatch(/The ledger is whole: [1-9]\d* entries\./)
  expect(said).toMatch(/1 of 1 sites came up from their archives\./)
  expect([code, said]).toEqual([0, expect.stringMatching(/\nThe backup is good\.\n$/)])
  const { rows } = await sql`select from pg_database where datname like 'portal_verify_%'`.execute(
    portal.app.db,
  )
  expect(rows).toEqual([])
})

test('without a passphrase, or with another one, it says so and does nothing', async () => {
  const none = await runCommand(portal, {}, 'backup', place('none'))
  expect(none).toMatchObject({ code: 1, said: expect.stringContaining('needs a passphrase') })
  expect(fs.existsSync(place('none'))).toBe(false)
  const file = place('passphrase')
  fs.writeFileSync(file, 'another one than that\n')
  const wrong = await command('verify-backup', saved, '--passphrase-file', file)
  expect(wrong).toEqual({
    code: 1,
    said: 'The passphrase is not the one of this backup, or secret.json was changed.\n',
  })
  expect(await command('verify-backup')).toMatchObject({ code: 64 })
  expect(await command('verify-backup', place('nowhere'))).toEqual({
    code: 1,
    said: `There is no backup in ${place('nowhere')}.\n`,
  })
})

test('a flipped byte is found in every file', async () => {
  const store = folderStore(saved)
  const opened = await openBackup(store, passphrase)
  expect(await checkFiles(store, opened)).toEqual([])
  const flipped = async (name: string, judge: () => Promise<void>): Promise<void> => {
    const file = path.join(saved, opened.base, name)
    const before = fs.readFileSync(file)
    const after = Buffer.from(before)
    const at = Math.floor(Math.random() * after.length)
    after[at] = (after[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
    fs.writeFileSync(file, after)
    try {
      await judge()
    } finally {
      fs.writeFileSync(file, before)
    }
  }
  expect(opened.manifest.files.length).toBeGreaterThan(50)
  for (const { name } of opened.manifest.files)
    await flipped(name, async () =>
      expect(await checkFiles(store, opened), name).toEqual([
        `${opened.base}${name} is not what was written: its SHA-256 differs.`,
      ]),
    )
  await flipped('manifest.json', async () => {
    await expect(openBackup(store, passphrase)).rejects.toThrow(BackupFault)
  })
  // A rewritten manifest is not accepted, either.
  const manifest = path.join(saved, opened.base, 'manifest.json')
  const before = fs.readFileSync(manifest, 'utf8')
  fs.writeFileSync(manifest, before.replace(/"rows": \d+/, '"rows": 4711'))
  await expect(openBackup(store, passphrase)).rejects.toThrow('it was changed')
  fs.writeFileSync(manifest, before)
  await flipped(opened.manifest.sites[0]?.file ?? '', async () => {
    const { code, said } = await command('verify-backup', saved)
    expect([code, said]).toEqual([1, expect.stringMatching(/SHA-256 differs[\s\S]*is not good/)])
  })
  const gone = opened.manifest.tables[0]?.file ?? ''
  await flipped(gone, async () => {
    fs.rmSync(path.join(saved, opened.base, gone))
    expect(await checkFiles(store, opened)).toEqual([`${opened.base}${gone} is missing.`])
  })
})

test('killed in the middle it leaves nothing that is taken for a backup', async () => {
  const target = place('killed')
  const filesIn = (): string[] =>
    fs.existsSync(target) ? (fs.readdirSync(target, { recursive: true }) as string[]) : []
  const child = startCommand(portal, { BACKUP_PASSPHRASE: passphrase }, 'backup', target)
  const ended = new Promise((resolve) => child.once('close', resolve))
  while (filesIn().length < 8) await new Promise((resolve) => setTimeout(resolve, 2))
  child.kill('SIGKILL')
  await ended
  expect(filesIn().length).toBeGreaterThan(7)
  expect(filesIn().filter((name) => name.endsWith('manifest.json'))).toEqual([])
  expect(await command('verify-backup', target)).toEqual({
    code: 1,
    said: `There is no whole backup in ${target}: the one that lies there was cut short.\n`,
  })
  // The remaining files are removed a day later.
  const store = folderStore(target)
  expect(await pruneBackups(store, 1, new Date())).toEqual([])
  expect(await pruneBackups(store, 1, new Date(Date.now() + 25 * 3_600_000))).toHaveLength(1)
  expect(fs.readdirSync(target)).toEqual([])
})

test('a full disk ends it with an error, and the one of before stays the newest', async () => {
  const whole = folderStore(saved)
  const [before] = (await backupsIn(whole)).whole
  let files = 0
  const full: ObjectStore = {
    ...whole,
    put: (name, write) =>
      files++ < 20 ? whole.put(name, write) : Promise.reject(new Error('ENOSPC')),
  }
  await expect(makeBackup(partsTo(full))).rejects.toThrow('ENOSPC')
  const { whole: ids, cutShort } = await backupsIn(whole)
  expect([ids, cutShort.length]).toEqual([[before], 1])
  expect((await openBackup(whole, passphrase)).manifest.id).toBe(before)
})

test('it is of one moment, however much money moves, and lies in S3 as well', async () => {
  const account = { region: 'us-east-1', accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret' }
  const s3 = await startS3(account, { bucket: 'backups' })
  const where = 's3://backups/of/portal'
  const store = s3Store(where, { ...account, endpoint: s3.url })
  let going = true
  let posted = 0
  const moving = (async () => {
    while (going) {
      await transaction(portal.app.db, (tx) =>
        portal.app.ledger.charge(tx, {
          key: `meanwhile:${posted}`,
          customerId: world.an.id,
          product: 'wordpress',
          currency: 'VND',
          amount: 1n,
          details: {},
        }),
      )
      posted += 1
    }
  })()
  try {
    await eventually('money moving', async () => posted > 20)
    // The tables one after another, with time for the money in between.
    const slow: ObjectStore = {
      ...store,
      put: async (name, write) => {
        await new Promise((resolve) => setTimeout(resolve, 10))
        await store.put(name, write)
      },
    }
    const made = await makeBackup(partsTo(slow))
    going = false
    await moving
    const rowsOf = (name: string) => made.tables.find((table) => table.name === name)?.rows
    expect(rowsOf('ledger_transfer')).toBeLessThan(posted)
    const { code, said } = await runCommand(
      portal,
      {
        BACKUP_PASSPHRASE: passphrase,
        S3_ENDPOINT: s3.url,
        S3_ACCESS_KEY_ID: account.accessKeyId,
        S3_SECRET_ACCESS_KEY: account.secretAccessKey,
      },
      'verify-backup',
      where,
    )
    expect([code, said]).toEqual([0, expect.stringMatching(/The ledger is whole[\s\S]*is good/)])
    expect(await command('verify-backup', where)).toMatchObject({
      code: 1,
      said: expect.stringContaining('needs S3_ACCESS_KEY_ID') as string,
    })
  } finally {
    going = false
    await moving
    await s3.close()
  }
})

test('a role without privileges can load it, and saved again it is the same bytes', async () => {
  const store = folderStore(saved)
  const opened = await openBackup(store, passphrase)
  const name = `plain_${randomBytes(4).toString('hex')}`
  const admin = new pg.Client({ connectionString: inject('adminUrl') })
  await admin.connect()
  await admin.query(`create role ${name} login password 'plain'`)
  await admin.query(`create database ${name} owner ${name}`)
  const url = withDatabase(inject('adminUrl'), name).replace(/\/\/[^@]+@/, `//${name}:plain@`)
  try {
    expect(await loadDatabase(url, opened.manifest, readerOf(store, opened))).toEqual([])
    const again = place('again')
    await makeBackup({ ...partsTo(folderStore(again)), databaseUrl: url })
    const second = await openBackup(folderStore(again), passphrase)
    const tables = ({ files }: Manifest) =>
      files.filter((file) => file.name.startsWith('database/')).map((file) => ({ ...file }))
    expect(tables(second.manifest)).toEqual(tables(opened.manifest))
    expect(second.manifest.sequences).toEqual(opened.manifest.sequences)
    expect(second.manifest.ledger).toEqual(opened.manifest.ledger)
    // Keys and triggers are back.
    await expect(refuseUnlessEmpty(url)).rejects.toThrow('The database is not empty')
    const plain = new pg.Client({ connectionString: url })
    await plain.connect()
    await expect(plain.query('delete from ledger_entry')).rejects.toThrow('append-only')
    await expect(plain.query('delete from site')).rejects.toThrow('foreign key')
    await plain.end()
  } finally {
    await admin.query(`drop database ${name} with (force)`)
    await admin.query(`drop role ${name}`)
    await admin.end()
  }
})

test('a restore refuses what is not empty, and another secret', async () => {
  expect(await command('restore', saved)).toEqual({
    code: 1,
    said: expect.stringMatching(/^DATA_DIR .+ is not empty \(.+ is there\)/) as string,
  })
  const empty = place('empty')
  const elsewhere = (env: NodeJS.ProcessEnv) =>
    runCommand(portal, { BACKUP_PASSPHRASE: passphrase, DATA_DIR: empty, ...env }, 'restore', saved)
  expect(await elsewhere({})).toEqual({
    code: 1,
    said: expect.stringMatching(/^The database is not empty \(.+ is there\)/) as string,
  })
  expect(await elsewhere({ PORTAL_SECRET: 'another secret of forty characters or so' })).toEqual({
    code: 1,
    said: expect.stringContaining(
      'PORTAL_SECRET is set and is not the one of the backup',
    ) as string,
  })
  expect(fs.existsSync(empty)).toBe(false)
  // An interrupted restore is neither continued nor started as a portal.
  fs.mkdirSync(empty)
  fs.writeFileSync(path.join(empty, 'restore-unfinished'), '')
  expect((await elsewhere({})).said).toMatch(/^A restore into .+ did not come to its end/)
  await expect(refuseUnfinishedRestore(empty)).rejects.toThrow('empty it and the database')
})

test('all machines are gone: one command, and the customer notices nothing', async () => {
  const before = await world.get('/api/v1/auth/me')
  // The older of its two backups is not in the portal's, and is not offered afterwards.
  const backups = async () =>
    (await world.get(`/api/wp/${world.siteId}/backups`)) as unknown as {
      id: string
      state: string
    }[]
  const older = new Set((await backups()).map(({ id }) => id))
  await portal.call('POST', `/api/wp/${world.siteId}/backups`, { token: world.an.token })
  await eventually(
    'a second backup of the site',
    async () => (await backups()).some(({ id, state }) => state === 'proven' && !older.has(id)),
    90,
  )
  // The site is on another machine, which is gone as well.
  const { db } = portal.app
  await db
    .insertInto('node')
    .values({ id: 'burnt', regions: [1] })
    .execute()
  await db.updateTable('site').set({ node_id: 'burnt' }).execute()
  await command('backup', saved)
  const gone = withDatabase(inject('adminUrl'), 'postgres')
  const name = /\/(test_\w+)/.exec(portal.databaseUrl)?.[1] ?? ''
  let restored: { code: number | null; said: string } | undefined
  let unfinished: unknown
  await portal.reopen({}, async () => {
    const admin = new pg.Client({ connectionString: gone })
    await admin.connect()
    await admin.query(`drop database ${name} with (force)`)
    await admin.query(`create database ${name}`)
    await admin.end()
    for (const each of fs.readdirSync(portal.dataDir))
      fs.rmSync(path.join(portal.dataDir, each), { recursive: true })
    restored = await runCommand(
      portal,
      { BACKUP_PASSPHRASE: passphrase, PORTAL_SECRET: undefined },
      'restore',
      saved,
      '--here',
    )
    unfinished = fs.existsSync(path.join(portal.dataDir, 'restore-unfinished'))
  })
  expect(restored).toMatchObject({ code: 0, said: expect.stringContaining('is restored in') })
  expect(restored?.said).toContain('1 sites are there.')
  expect(restored?.said).toContain(
    '1 older backups of sites are not in DATA_DIR, and SITE_BACKUPS_TO is not set,',
  )
  expect(unfinished).toBe(false)
  expect(fs.readFileSync(path.join(portal.dataDir, 'secret'), 'utf8')).toBe(portal.rootSecret)

  // The session from before, the money, the books, the signed statement and the links.
  expect(await world.get('/api/v1/auth/me')).toEqual(before)
  await portal.ledgerHolds()
  const { fingerprint } = verifyStatement(world.statement)
  expect(verifyStatement(await world.statementNow(), fingerprint).entries).toBeGreaterThan(1)
  expect((await fetch(world.invoiceLink)).status).toBe(200)
  // The site with what its owner wrote, and a backup that can be downloaded.
  const page = await eventually(
    'the site',
    async () => {
      const answer = await world.visit('/wp-content/written.txt').catch(() => undefined)
      return answer?.status === 200 && answer
    },
    90,
  )
  expect(page.text).toBe('what the customer wrote')
  // If the test runs at night, there may be one more.
  const offered = (await backups()).map(({ id }) => id)
  expect(offered.filter((id) => older.has(id))).toEqual([])
  expect(offered.length).toBeGreaterThan(0)
})
