/**
 * kill -9 at random moments while a node turns the database of a site with MariaDB into SQLite: the
 * round is sent again with the same result, and no leftovers stay. `KILLS=40 SEED=7` for more
 * kills, or the same ones.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { open, processesOf } from '../../../../test/embedded-wordpress.ts'
import { ensureWordpress } from '../../../../scripts/wordpress-files.mjs'
import type { MoveRound } from '../../driver.ts'
import { packChanges } from '../machine/changes.ts'
import { specOf } from '../conformance.ts'

const kills = Number(process.env['KILLS'] ?? 4)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

/** mulberry32: the same seed gives the same moments. */
function randomFrom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const create = (name: string, more = ''): string =>
  `CREATE TABLE \`${name}\` ( \`id\` bigint(20) unsigned NOT NULL AUTO_INCREMENT, ` +
  `\`word\` longtext DEFAULT NULL${more}, PRIMARY KEY (\`id\`) ) ` +
  'ENGINE=InnoDB AUTO_INCREMENT=8 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci'

test(`a round is killed ${kills} times (SEED=${seed})`, { timeout: 400_000 }, async () => {
  await ensureWordpress()
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-kill-carry-'))
  await fs.chmod(folder, 0o755)
  onTestFinished(() => fs.rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const dataDir = path.join(folder, 'data')
  const spec = specOf()
  const site = path.join(dataDir, 'sites', spec.id)
  const from = { filesDir: path.join(folder, 'files'), databaseDir: path.join(folder, 'none') }
  await fs.mkdir(path.join(from.filesDir, 'wp-content'), { recursive: true })
  const listings = path.join(folder, 'listings')
  await fs.mkdir(listings)

  /** Makes the archive of a round as a node with an engine packs it. */
  const pack = async (round: number, word: string, more: readonly string[]): Promise<string> => {
    await fs.writeFile(path.join(from.filesDir, 'wp-content', 'word.txt'), word)
    const names = ['first', 'second', ...more]
    const lines = names.flatMap((name) => [
      `DROP TABLE IF EXISTS \`${name}\``,
      create(name),
      `INSERT INTO \`${name}\` (\`id\`, \`word\`) VALUES ('3','${word}'),('5','đường')`,
    ])
    const dump = path.join(folder, 'dump')
    await fs.writeFile(dump, ['SET NAMES utf8mb4', ...lines, ''].join(';\n'))
    const file = path.join(folder, `${round}.tar.gz`)
    const at = (one: number): string => path.join(listings, `${one}.json`)
    await packChanges(from, openSync(file, 'w'), {
      compression: 'gzip',
      release: null,
      scratchFile: dump,
      maxBytes: 1e9,
      since: round === 0 ? null : at(round - 1),
      tried: [],
      listing: at(round),
      database: { for: 'sqlite', counted: names.map((name) => ({ name, rows: 2 })) },
    })
    return file
  }
  const stands = async (word: string, names: readonly string[]): Promise<void> => {
    const file = path.join(site, 'wordpress/wp-content/database/.ht.sqlite')
    const database = new DatabaseSync(file, { readOnly: true })
    for (const name of names) {
      const rows = database.prepare(`select id, word from ${name}`).all()
      expect(rows.map((row) => ({ ...row }))).toEqual([
        { id: 3, word },
        { id: 5, word: 'đường' },
      ])
      const next = database.prepare('select seq from sqlite_sequence where name = ?').get(name)
      expect(next?.['seq']).toBe(7)
    }
    database.close()
    expect(await fs.readFile(path.join(site, 'wordpress/wp-content/word.txt'), 'utf8')).toBe(word)
    const left = await fs.readdir(site)
    expect(left.filter((name) => !/^(?:wordpress|moving|run|log|.*\.json)$/.test(name))).toEqual([])
    expect(processesOf(`${spec.id}-tables`)).toEqual([])
  }

  const random = randomFrom(seed)
  /** A node begins the round; resolves when it has said so. */
  const begun = async (of: MoveRound, archive: string) => {
    const child = spawn(
      process.execPath,
      [
        path.resolve(import.meta.dirname, '../../../../test/lay-round-process.ts'),
        dataDir,
        JSON.stringify(spec),
        archive,
        JSON.stringify(of),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const ended = once(child, 'exit')
    const said: string[] = []
    const lines = readline.createInterface({ input: child.stdout })
    await new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        said.push(line)
        resolve()
      })
      lines.once('close', resolve)
    })
    expect(said[0]).toBe('begins')
    return { child, ended, said }
  }
  // A whole round says how long one takes on this machine now.
  const measured: MoveRound = { moveId: randomUUID(), round: 0, database: 'sqlite' }
  const whole = await begun(measured, await pack(0, 'measured', []))
  const began = performance.now()
  await whole.ended
  const lengthMs = performance.now() - began
  expect(whole.said).toEqual(['begins', 'done'])
  let [tried, killed] = [0, 0]
  /** A node applies the round, and is killed meanwhile, each time a little later. */
  const killedIn = async (of: MoveRound, archive: string): Promise<void> => {
    const { child, ended, said } = await begun(of, archive)
    await pause(((tried++ + random()) / (kills + 1)) * lengthMs)
    child.kill('SIGKILL')
    await ended
    if (!said.includes('done')) killed++
  }
  for (let kill = 0; kill < kills; kill += 2) {
    const moveId = randomUUID()
    const of = (round: number): MoveRound => ({ moveId, round, database: 'sqlite' })
    const first = await pack(0, `word ${kill}`, [])
    let driver = open(dataDir)
    // As a move does before its first round.
    await driver.remove(spec.id)
    await driver.close()
    await killedIn(of(0), first)
    driver = open(dataDir)
    await driver.remove(spec.id)
    await driver.copyIn(spec, of(0), first, [])
    await driver.close()
    await stands(`word ${kill}`, ['first', 'second'])
    // The next round has one table more, so the tables are made again.
    const second = await pack(1, `later ${kill}`, ['third'])
    await killedIn(of(1), second)
    driver = open(dataDir)
    await driver.copyIn(spec, of(1), second, [])
    await driver.copyIn(spec, of(1), second, [])
    await driver.close()
    await stands(`later ${kill}`, ['first', 'second', 'third'])
  }
  expect(killed).toBeGreaterThan(0)
  // A round that cannot be applied leaves the content of the round before unchanged.
  const driver = open(dataDir)
  onTestFinished(() => driver.close())
  const moveId = randomUUID()
  await driver.remove(spec.id)
  await driver.copyIn(spec, { moveId, round: 0, database: 'sqlite' }, await pack(0, 'kept', []), [])
  const odd = path.join(folder, 'dump')
  await pack(1, 'lost', [])
  await fs.writeFile(odd, `${create('first', ', `odd` bit(1) DEFAULT NULL')};\n`)
  const file = path.join(folder, 'odd.tar.gz')
  await packChanges(from, openSync(file, 'w'), {
    compression: 'gzip',
    release: null,
    scratchFile: odd,
    maxBytes: 1e9,
    since: path.join(listings, '0.json'),
    tried: [],
    listing: path.join(listings, 'odd.json'),
    database: { for: 'sqlite', counted: [{ name: 'first', rows: 0 }] },
  })
  await expect(
    driver.copyIn(spec, { moveId, round: 1, database: 'sqlite' }, file, []),
  ).rejects.toMatchObject({
    kind: 'rejected',
    message: expect.stringContaining('bit(1)') as string,
  })
})
