/** Archives in a folder and in a bucket behave alike; a customer’s backup in a bucket. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startS3, type S3StandIn } from '../../sandbox/s3/index.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { eventually, openTestPortal } from '../../test/portal.ts'
import { NoSuchFile, openStore } from '../platform/object-store/index.ts'
import { createLog } from '../platform/log.ts'
import { archivesAt, archivesIn, type Archives } from './archives.ts'
import { watchArchives } from './archive-watch.ts'
import { hideLostArchives } from './whole-backup.ts'

const account = { region: 'us-east-1', accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret of it' }
const of = { siteId: 'a-site', backupId: 'a-backup' }
const content = Buffer.from('0123456789'.repeat(1000))
let s3: S3StandIn
let folder: string
beforeAll(async () => {
  s3 = await startS3(account, { bucket: 'sites' })
  folder = mkdtempSync(path.join(os.tmpdir(), 'portal-archives-'))
})
afterAll(async () => {
  await s3.close()
  rmSync(folder, { recursive: true, force: true })
})

const s3Settings = () => ({
  S3_ENDPOINT: s3.url,
  S3_REGION: account.region,
  S3_ACCESS_KEY_ID: account.accessKeyId,
  S3_SECRET_ACCESS_KEY: account.secretAccessKey,
})
const kinds: readonly (readonly [string, () => Archives])[] = [
  ['in a folder', () => archivesIn(path.join(folder, 'own'))],
  [
    'in a bucket',
    () => archivesAt(openStore('s3://sites/kept', s3Settings()), path.join(folder, 'scratch')),
  ],
]

describe.each(kinds)('archives %s', (_kind, open) => {
  test('are made, read as a whole, in part and as a file, and removed', async () => {
    const archives = open()
    const { made, bytes } = await archives.make(of, async (file) => {
      await fs.mkdir(path.dirname(file), { recursive: true })
      await fs.writeFile(file, content)
      return 'figures'
    })
    expect([made, bytes]).toEqual(['figures', content.length])
    expect(await buffer(await archives.read(of))).toEqual(content)
    const part = await buffer(await archives.read(of, { start: 5, end: 14 }))
    expect(part.toString()).toBe('5678901234')
    expect(await archives.use(of, async (file) => (await fs.readFile(file)).equals(content))).toBe(
      true,
    )
    await archives.remove(of)
    await archives.remove(of)
    await expect(archives.read(of)).rejects.toThrow(NoSuchFile)
  })

  test('that come from elsewhere are read as they came', async () => {
    const archives = open()
    const known = { siteId: randomUUID(), backupId: randomUUID() }
    await archives.put(known, (into) => pipeline([content], into))
    expect(await buffer(await archives.read(known))).toEqual(content)
    expect(await archives.list()).toEqual([known])
    await archives.remove(known)
    expect(await archives.list()).toEqual([])
  })

  test('of which the making failed are not there, and leave nothing behind', async () => {
    const archives = open()
    const failing = archives.make(of, async () => {
      throw new Error('no room')
    })
    await expect(failing).rejects.toThrow('no room')
    await expect(archives.read(of)).rejects.toThrow(NoSuchFile)
    expect(
      readdirSync(folder, { recursive: true }).filter((name) => /tar/.test(String(name))),
    ).toEqual([])
  })
})

test('a customer’s backup lies in the bucket, is downloaded in parts and restored', async () => {
  const portal = await openTestPortal({
    env: { SITE_BACKUPS_TO: 's3://sites/live', ...s3Settings() },
  })
  try {
    const an = await portal.customer()
    await portal.topUp(an, 500_000)
    const call = <T = unknown>(method: string, address: string, body?: object) =>
      portal.call<T>(method, address, { token: an.token, ...(body && { body }) })
    const order = {
      size: 1,
      region: 1,
      disk: 10_240,
      mariadb_disk_size: 10_240,
      user: 'an',
      password: 'Mat-khau-9!',
      replicate: 1,
    }
    const { id } = (await call<{ id: string }>('POST', '/api/wp', order)).body.result
    await eventually('the server', async () => {
      const { result } = (await call<{ status: string }>('GET', `/api/wp/${id}`)).body
      return result.status === 'running'
    })
    await call('POST', `/api/wp/${id}/backups`)
    const backup = await eventually('a proven backup', async () => {
      const [newest] = (await call<{ id: string; state: string }[]>('GET', `/api/wp/${id}/backups`))
        .body.result
      return newest?.state === 'proven' && newest.id
    })
    expect([...s3.objects.keys()]).toEqual([`sites/live/${id}/${backup}.tar.gz`])
    const { url } = (await call<{ url: string }>('POST', `/api/wp/${id}/backups/${backup}/link`))
      .body.result
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer())
    expect(whole).toEqual(s3.objects.get(`sites/live/${id}/${backup}.tar.gz`))
    const part = await fetch(url, { headers: { range: 'bytes=10-19' } })
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([
      206,
      whole.subarray(10, 20),
    ])
    await call('POST', `/api/wp/${id}/backups/${backup}/restore`)
    await jobsIdle(portal.app.db)
    const restores = await portal.app.db.selectFrom('site_restore').select('state').execute()
    expect(restores).toEqual([{ state: 'restored' }])
    expect(readdirSync(path.join(portal.dataDir, 'backups', '.under-way'))).toEqual([])
  } finally {
    await portal.close()
  }
})

/** A portal with a customer's server, and what its owner calls. */
async function portalWithServer(env: Record<string, string>) {
  const portal = await openTestPortal({ env })
  onTestFinished(() => portal.close())
  const an = await portal.customer()
  await portal.topUp(an, 500_000)
  const call = async <T>(method: string, address: string, body?: object): Promise<T> =>
    (await portal.call<T>(method, address, { token: an.token, ...(body && { body }) })).body.result
  const { id } = await call<{ id: string }>('POST', '/api/wp', {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  })
  await eventually('the server', async () => {
    const { status } = await call<{ status: string }>('GET', `/api/wp/${id}`)
    return status === 'running'
  })
  /** Ids of its backups that can be restored, the newest first. */
  const offered = async (): Promise<string[]> => {
    await jobsIdle(portal.app.db)
    const all = await call<{ id: string; state: string }[]>('GET', `/api/wp/${id}/backups`)
    return all.filter(({ state }) => state === 'proven').map((one) => one.id)
  }
  return { db: portal.app.db, call, id, offered }
}

test('a restore that knew no bucket destroys none in it: they are offered again', async () => {
  const env = { SITE_BACKUPS_TO: 's3://sites/again', ...s3Settings() }
  const { db, call, id, offered } = await portalWithServer(env)
  const inBucket = (): string[] =>
    [...s3.objects.keys()].flatMap(
      (name) => /^sites\/again\/.+\/([^/]+)\.tar\.gz$/.exec(name)?.[1] ?? [],
    )
  await call('POST', `/api/wp/${id}/backups`)
  const [older] = await offered()
  await call('POST', `/api/wp/${id}/backups`)
  const [newer] = await offered()
  // What the restore sees: a folder with the one archive that the backup of the portal had.
  const putBack = archivesIn(path.join(folder, 'put-back'))
  await putBack.put({ siteId: id, backupId: newer! }, (into) => pipeline([content], into))
  expect(await hideLostArchives(db, putBack)).toBe(1)
  expect(await offered()).toEqual([newer])

  // The operator has set the bucket; a backup is made, and what is old is removed.
  await call('POST', `/api/wp/${id}/backups`)
  const [newest] = await offered()
  expect(new Set(inBucket())).toEqual(new Set([older, newer, newest]))
  const archives = archivesAt(openStore('s3://sites/again', s3Settings()), folder)
  const watch = watchArchives({ db, log: createLog('silent'), archives })
  await watch.look()
  watch.stop()
  expect(watch.missing()).toBe(0)
  expect(await offered()).toEqual([newest, newer, older])
  const { url } = await call<{ url: string }>('POST', `/api/wp/${id}/backups/${older}/link`)
  expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(
    s3.objects.get(`sites/again/${id}/${older}.tar.gz`),
  )
})

test('a restore whose archive cannot be opened now is tried again, and ends well', async () => {
  const kept = path.join(folder, 'mounted')
  const { db, call, id, offered } = await portalWithServer({ SITE_BACKUPS_TO: kept })
  await call('POST', `/api/wp/${id}/backups`)
  const [backup] = await offered()
  const archive = path.join(kept, id, `${backup}.tar.gz`)
  await fs.rename(archive, `${archive}.aside`)
  // A link to itself opens with a fault that is not its absence.
  await fs.symlink(archive, archive)
  await call('POST', `/api/wp/${id}/backups/${backup}/restore`)
  const restore = () =>
    db.selectFrom('site_restore').select(['state', 'attempts', 'reason']).executeTakeFirst()
  await eventually('a first try', async () => (await restore())?.attempts === 1)
  await fs.rename(`${archive}.aside`, archive)
  await jobsIdle(db)
  expect(await restore()).toEqual({ state: 'restored', attempts: 1, reason: null })
  // One that is gone is not waited for.
  await fs.rm(archive)
  await db.deleteFrom('site_restore').execute()
  await call('POST', `/api/wp/${id}/backups/${backup}/restore`)
  await jobsIdle(db)
  expect(await restore()).toEqual({ state: 'failed', attempts: 0, reason: 'the archive is gone' })
})
