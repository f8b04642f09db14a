/**
 * The tests of copies of a site for every WordPress driver: made while it is written to, proven,
 * and restored once and completely.
 */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DriverFailure } from '../../platform/errors.ts'
import type { MoveRound, SiteCopy, SiteSpec, WordpressDriver } from '../driver.ts'
import {
  ask,
  betweenVisits,
  eventually,
  specOf,
  titlesOf,
  type Fixture,
  type Site,
} from './site.conformance.ts'

export function copiesAndRestores(site: Site): void {
  const { spec, first, page, session, write, titles } = site
  let fixture: Fixture
  let driver: WordpressDriver
  let folder: string
  let copy: SiteCopy
  beforeAll(async () => {
    fixture = site.made()
    driver = fixture.driver
    folder = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-copies-'))
    copy = {
      file: path.join(folder, 'site.tar.gz'),
      figures: { files: 0, fileBytes: 0, filesSha256: '', databaseBytes: 0, tables: [] },
    }
  })
  afterAll(() => fs.rm(folder, { recursive: true, force: true }))

  test('backs up while the site is written to, and the copy is proven', async () => {
    const headers = await session()
    await fixture.put(spec.id, 'wp-content/uploads/ảnh bìa.txt', 'trước')
    let backingUp = true
    let written = 0
    const writer = (async () => {
      while (backingUp) {
        if ((await write(`Sao lưu ${written}`, await first(), headers)).status === 201) written++
        await betweenVisits()
      }
    })()
    await eventually(() => expect(written).toBeGreaterThan(0))
    const figures = await driver.backup(spec.id, copy.file)
    backingUp = false
    await writer
    copy = { ...copy, figures }
    expect(figures.files).toBeGreaterThan(fixture.wordpress.files)
    expect(figures.tables.find(({ name }) => name.endsWith('posts'))?.rows).toBeGreaterThan(0)
    expect(await driver.prove(copy.file)).toEqual(figures)
    expect(await fs.readdir(path.dirname(copy.file))).toEqual([path.basename(copy.file)])
    expect(await driver.list()).toEqual([spec.id])
  })

  test('restores files and database, once for each time it is asked for', async () => {
    await fixture.put(spec.id, 'wp-content/uploads/ảnh bìa.txt', 'sau')
    await fixture.put(spec.id, 'wp-content/uploads/late.txt', 'late')
    expect((await write('Viết sau', await first(), await session())).status).toBe(201)
    const restoreId = randomUUID()
    const restored = async () => {
      await driver.restore(spec, copy, restoreId)
      await driver.start(spec)
    }
    await Promise.all([restored(), driver.start(spec)])
    const after = await titles()
    expect(after).toContain('Sao lưu 0')
    expect(after).not.toContain('Viết sau')
    expect((await page('/wp-content/uploads/ảnh bìa.txt')).text).toBe('trước')
    expect((await page('/wp-content/uploads/late.txt')).status).toBe(404)
    expect((await write('Viết lại', await first(), await session())).status).toBe(201)
    const [before] = await driver.addresses(spec.id)
    await restored()
    expect(await driver.addresses(spec.id)).toEqual([before])
    expect(await titles()).toContain('Viết lại')
  })

  test('puts nothing in the place of a site that is damaged, altered or too large', async () => {
    const whole = await fs.readFile(copy.file)
    const damaged = `${copy.file}.damaged`
    await fs.writeFile(damaged, whole.subarray(0, Math.floor(whole.length * 0.7)))
    await expect(driver.prove(damaged)).rejects.toMatchObject({ name: 'DriverFailure' })
    const refused: [SiteSpec, SiteCopy][] = [
      [spec, { ...copy, file: `${copy.file}.absent` }],
      [spec, { ...copy, figures: { ...copy.figures, fileBytes: copy.figures.fileBytes - 1 } }],
      [{ ...spec, diskMb: 10 }, copy],
    ]
    for (const [at, from] of refused)
      await expect(driver.restore(at, from, randomUUID())).rejects.toMatchObject({
        name: 'DriverFailure',
      })
    expect((await page('/')).status).toBe(200)
    expect(await titles()).toContain('Viết lại')
    expect(await driver.list()).toEqual([spec.id])
  })

  // As in a move between nodes; here the copy is another site of the same node.
  test('a copy elsewhere follows by what changed, also while it is started', async () => {
    const there = specOf({ ...spec, id: randomUUID(), url: 'http://followed.localhost:8082' })
    const moveId = randomUUID()
    let attempt = 0
    const headers = await session()
    const follow = async (round: number): Promise<void> => {
      const file = path.join(folder, `${round}.tar.gz`)
      const database = driver.capabilities.database
      // Both compressions must work, whatever release is at either end.
      const compression = round % 2 === 0 ? 'gzip' : 'zstd'
      const release = round % 2 === 0 ? driver.capabilities.release : undefined
      await driver.copyOut(spec.id, { moveId, round, database, compression, release }, file)
      await driver.copyIn(there, { moveId, round, attempt: ++attempt, database }, file, [])
    }
    const read = async (target: string) => {
      const [address] = await driver.addresses(there.id)
      expect(address, 'an address of the copy').toBeDefined()
      return await ask(address!, there.url + target)
    }
    const titlesThere = async () => titlesOf((await read('/wp-json/wp/v2/posts?per_page=100')).text)
    await fixture.put(spec.id, 'wp-content/uploads/kept.txt', 'one')
    const going = 'wp-content/going.txt'
    const made = await driver.files(spec.id, {
      op: 'write',
      path: going,
      upload: randomUUID(),
      offset: 0,
      data: btoa('one'),
      isLast: true,
      replaces: true,
    })
    expect(made).not.toHaveProperty('fault')
    expect((await write('Trước vòng một', await first(), headers)).status).toBe(201)
    await follow(0)
    // The copy is not started yet: a database without a container follows as well.
    expect((await write('Trong vòng một', await first(), headers)).status).toBe(201)
    await follow(1)
    await driver.holdWrites(there.id, 600_000)
    await driver.start(there)
    expect(await titlesThere()).toContain('Trong vòng một')

    // A table changed only by a visitor of the copy is overwritten, although the original's has not
    // changed since the round before.
    const asks = async (sql: string, reads: boolean) =>
      await driver.database(there.id, 'sql', { sql, reads, limit: 10, reveals: false })
    const emails = 'SELECT user_email FROM wp_users ORDER BY ID'
    const before = await asks(emails, true)
    expect(before).toMatchObject({ ok: true })
    const strays = "UPDATE wp_users SET user_email = 'strayed@example.com'"
    expect(await asks(strays, false)).toMatchObject({ ok: true })
    expect(await asks('CREATE TABLE wp_strayed (a int)', false)).toMatchObject({ ok: true })
    expect(await asks(emails, true)).not.toEqual(before)
    await fixture.put(spec.id, 'wp-content/uploads/kept.txt', 'two, and longer')
    expect((await read(`/${going}`)).text).toBe('one')
    const removed = await driver.files(spec.id, { op: 'remove', path: going })
    expect(removed).not.toHaveProperty('fault')
    expect((await write('Trong vòng hai', await first(), headers)).status).toBe(201)
    await follow(2)
    // A round of another move is not accepted.
    const database = driver.capabilities.database
    const refuses = async (kind: DriverFailure['kind'], of: Omit<MoveRound, 'database'>) => {
      const file = path.join(folder, `${of.round}.tar.gz`)
      const laid = driver.copyIn(there, { ...of, database }, file, [])
      await expect(laid, JSON.stringify(of)).rejects.toMatchObject({ kind })
    }
    await refuses('rejected', { moveId: randomUUID(), round: 2 })
    await refuses('rejected', { moveId: randomUUID(), round: 0 })
    // Late rounds of a process that was overtaken.
    await refuses('unavailable', { moveId, round: 0 })
    await refuses('unavailable', { moveId, round: 1, attempt: attempt + 1 })
    await refuses('unavailable', { moveId, round: 2, attempt: attempt - 1 })
    expect(await driver.addresses(there.id)).not.toEqual([])
    // A repeated round leaves nothing twice.
    await follow(2)
    expect((await titlesThere()).filter((title) => title === 'Trong vòng hai')).toHaveLength(1)
    expect(await titlesThere()).toEqual(await titles())
    expect(await asks(emails, true)).toEqual(before)
    expect(await asks('SELECT a FROM wp_strayed', true)).toMatchObject({ ok: false })
    expect((await read('/wp-content/uploads/kept.txt')).text).toBe('two, and longer')
    expect((await read(`/${going}`)).status).toBe(404)
    expect((await page('/')).status).toBe(200)

    // Visitors write here by now: no late round overwrites that.
    await driver.holdWrites(there.id, 0)
    await driver.start(there)
    for (const round of [0, 1, 2]) await refuses('rejected', { moveId, round, attempt: 1_000 })
    expect(await driver.addresses(there.id)).not.toEqual([])
    await driver.remove(there.id)
    expect(await driver.list()).toEqual([spec.id])
  })

  test('a mirror follows without being started, and starts with what came last', async () => {
    const there = specOf({ ...spec, id: randomUUID(), url: 'http://mirrored.localhost:8082' })
    const database = driver.capabilities.database
    const moveId = randomUUID()
    const headers = await session()
    const archive = path.join(folder, 'mirror.tar.gz')
    const roundOf = (round: number, since: number | null) => {
      const { release } = driver.capabilities
      return { moveId, database, round, mirror: { since }, compression: 'zstd', release } as const
    }
    const follow = async (round: number, since: number | null): Promise<void> => {
      await driver.copyOut(spec.id, roundOf(round, since), archive)
      await driver.copyIn(there, roundOf(round, since), archive, [])
    }
    const read = async (target: string) => {
      const [address] = await driver.addresses(there.id)
      expect(address, 'an address of the mirror').toBeDefined()
      return await ask(address!, there.url + target)
    }
    const rename = async (from: string, to: string): Promise<void> => {
      const moved = await driver.files(spec.id, { op: 'move', path: from, to })
      expect(moved).not.toHaveProperty('fault')
    }
    const told = 'wp-content/uploads/mirrored.txt'
    const gone = 'wp-content/uploads/for a moment.txt'
    // A mirror keeps the owner's database.
    if (database === 'mariadb')
      await expect(
        driver.copyOut(spec.id, { ...roundOf(1000, null), database: 'sqlite' }, archive),
      ).rejects.toMatchObject({ kind: 'rejected' })
    // A folder that comes back has its files unchanged, to the nanosecond.
    const back = 'wp-content/uploads/back'
    await fixture.put(spec.id, `${back}/kept.txt`, 'it is back')
    await follow(1001, null)
    // A move at the same time is independent of the mirror.
    const move = { moveId: randomUUID(), round: 0, database }
    await driver.copyOut(spec.id, move, path.join(folder, 'move.tar.gz'))
    await fixture.put(spec.id, told, 'one')
    await fixture.put(spec.id, gone, 'one')
    await rename(back, `${back}.off`)
    await follow(1002, 1001)
    // Tries after lost answers: files that earlier tries added are removed, and files that they
    // removed come back.
    const removed = await driver.files(spec.id, { op: 'remove', path: gone })
    expect(removed).not.toHaveProperty('fault')
    await rename(`${back}.off`, back)
    await driver.copyOut(spec.id, roundOf(1003, 1001), archive)
    await follow(1004, 1001)
    await fixture.put(spec.id, told, 'two, and longer')
    expect((await write('Trong bản song song', await first(), headers)).status).toBe(201)
    await follow(1005, 1004)
    await follow(1006, 1005)
    // A late round of an earlier process, and a round that skips some.
    for (const late of [roundOf(1005, 1004), roundOf(1007, 1004), { ...move, round: 7 }])
      await expect(driver.copyIn(there, late, archive, [])).rejects.toMatchObject({
        kind: 'rejected',
      })
    // The copy's state is unknown by now: it starts from the whole content again.
    await expect(driver.copyOut(spec.id, roundOf(1007, 1003), archive)).rejects.toMatchObject({
      kind: 'rejected',
    })
    expect(await driver.addresses(there.id)).toEqual([])

    await driver.start(there)
    const titlesThere = titlesOf((await read('/wp-json/wp/v2/posts?per_page=100')).text)
    expect(titlesThere).toEqual(await titles())
    expect(titlesThere).toContain('Trong bản song song')
    expect((await read('/wp-content/uploads/mirrored.txt')).text).toBe('two, and longer')
    expect((await read('/wp-content/uploads/for%20a%20moment.txt')).status).toBe(404)
    expect((await read('/wp-content/uploads/back/kept.txt')).text).toBe('it is back')
    expect((await read('/wp-content/uploads/back.off/kept.txt')).status).toBe(404)
    // A late round does not overwrite what was written here since.
    await expect(driver.copyIn(there, roundOf(1008, 1006), archive, [])).rejects.toMatchObject({
      kind: 'rejected',
    })
    await driver.stop(there.id)
    await driver.start(there)
    expect(titlesOf((await read('/wp-json/wp/v2/posts?per_page=100')).text)).toEqual(titlesThere)

    await driver.remove(there.id)
    expect(await driver.list()).toEqual([spec.id])
  })
}
