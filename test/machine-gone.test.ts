/**
 * The real portal, with its own database and WordPress on PHP, loses its machine: it is killed and
 * its folder is removed. One command restores it, and everything that it acknowledged is still
 * true.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  credited,
  placeOrder,
  price,
  register,
  settled,
  topUp,
  untilAnswered,
} from './kill-journey.ts'
import { eventually } from './portal.ts'
import { PortalProcess } from './portal-process.ts'

const saved = mkdtempSync(path.join(os.tmpdir(), 'portal-machine-'))
/** Archives of sites on another disk, which survives the machine. */
const archives = mkdtempSync(path.join(os.tmpdir(), 'portal-archives-'))
const portal = await PortalProcess.create()
afterAll(async () => {
  await portal.terminate()
  portal.discard()
  for (const folder of [saved, archives]) rmSync(folder, { recursive: true, force: true })
})

test(
  'restored on an empty machine, it holds what it said before',
  { timeout: 300_000 },
  async () => {
    const env = {
      BACKUP_PASSPHRASE: 'a passphrase for tests',
      ENV_FILE: os.devNull,
      SITE_BACKUPS_TO: archives,
    }
    await portal.start(env)
    const an = await register(portal, 1)
    await credited(portal, an, await topUp(portal, an, price, 'paid'))
    const siteId = await placeOrder(portal, an)
    expect(await settled(portal, an, siteId)).toBe('running')
    const backups = async (): Promise<{ id: string; state: string }[]> =>
      (await untilAnswered(portal, 'GET', `/api/wp/${siteId}/backups`, { token: an.token })).body
        .result as unknown as { id: string; state: string }[]
    for (let made = 1; made <= 2; made++) {
      await untilAnswered(portal, 'POST', `/api/wp/${siteId}/backups`, { token: an.token })
      await eventually(
        'the backup',
        async () => (await backups()).filter(({ state }) => state === 'proven').length === made,
      )
    }
    const before = await backups()
    const signingKey = await (await fetch(`${portal.url}/api/statement-key`)).text()

    const made = await portal.command('backup', env, [saved])
    expect(made).toMatchObject({ code: 0, said: expect.stringContaining('1 sites') as string })
    const verified = await portal.command('verify-backup', env, [saved])
    expect(verified).toMatchObject({ code: 0, said: expect.stringContaining('is good') as string })

    await portal.kill('database')
    for (const name of readdirSync(portal.dataDir))
      rmSync(path.join(portal.dataDir, name), { recursive: true, maxRetries: 5 })
    // As on a machine with a mounted disk for the sites, and npm's logs in the folder.
    mkdirSync(path.join(portal.dataDir, 'sites', 'lost+found'), { recursive: true })
    mkdirSync(path.join(portal.dataDir, '.npm', '_logs'), { recursive: true })
    writeFileSync(path.join(portal.dataDir, '.npm', '_logs', 'today.log'), 'npm\n')
    const began = performance.now()
    const restored = await portal.command('restore', env, [saved])
    expect(restored).toMatchObject({
      code: 0,
      said: expect.stringContaining('The portal is restored in') as string,
    })
    expect(restored.said).not.toContain('gone with the machine')
    expect(statSync(path.join(portal.dataDir, 'secret')).mode & 0o777).toBe(0o600)
    await portal.start(env)
    for (const { what, holds } of an.facts)
      await holds().catch((error: unknown) => {
        throw new Error(`no longer: ${what}`, { cause: error })
      })
    // The portal's backup contains the newest archive; the other one was on a disk that still
    // exists.
    expect(await backups()).toEqual(before)
    // From nothing to an answering site.
    expect(performance.now() - began).toBeLessThan(120_000)
    expect(await (await fetch(`${portal.url}/api/statement-key`)).text()).toBe(signingKey)
    const books = await portal.command('ledger:check', env, ['--full'])
    expect(books).toMatchObject({ code: 0, said: expect.stringContaining('is whole') as string })
    expect(await portal.command('restore', env, [saved])).toMatchObject({
      code: 1,
      said: expect.stringContaining('is not empty') as string,
    })
  },
)
