/**
 * kill -9 at random moments of every step of an import: the site is completely the old one or the
 * new one, and the same import can be finished afterwards. `KILLS=40 SEED=7` for more kills, or the
 * same ones.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { open } from '../../../../test/embedded-wordpress.ts'
import { simulatedWordpress } from '../../../../test/simulated-wordpress.ts'
import { DatabaseSync } from 'node:sqlite'
import type { SiteRuntime } from '../../driver.ts'
import { ask, specOf } from '../conformance.ts'

const kills = Number(process.env['KILLS'] ?? 12)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const steps = ['lay out', 'load', 'switch', 'start'] as const
/** Approximate time of each step on an idle machine, ms. */
const lengthsMs = { 'lay out': 700, load: 500, switch: 150, start: 100 }

/** mulberry32: the same seed gives the same moments. */
function randomFrom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

test(`a move is killed ${kills} times (SEED=${seed})`, { timeout: 400_000 }, async () => {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-kill-move-'))
  await fs.chmod(folder, 0o755)
  onTestFinished(() => fs.rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const parts = simulatedWordpress(folder)
  const dataDir = path.join(folder, 'data')
  const spec = specOf()
  const archive = path.join(folder, 'away.tar.gz')
  const content = path.join(dataDir, 'sites', spec.id, 'wordpress', 'wp-content')
  const write = async (word: string): Promise<void> => {
    const database = new DatabaseSync(path.join(content, 'database', '.ht.sqlite'))
    database.prepare('update wp_posts set post_title = ?').run(word)
    database.close()
    await fs.writeFile(path.join(content, 'word.txt'), word)
  }
  /** Which site it is, by the words of its database and its files, which must agree. */
  const seen = async (driver: SiteRuntime): Promise<string> => {
    const [at] = driver.upstreams(spec.id)
    const page = await ask(at!, `${spec.url}/`)
    expect(page.status).toBe(200)
    const word = /\?p=1">(\w+)</.exec(page.text)?.[1] ?? ''
    expect((await ask(at!, `${spec.url}/wp-content/word.txt`)).text).toBe(word)
    return word
  }
  let driver = open(dataDir, parts)
  onTestFinished(() => driver.close())
  await driver.install(spec, { user: 'chu', password: 'Another#1pass', email: 'b@example.com' })
  await driver.start(spec)
  await write('new')
  await driver.backup(spec.id, archive)

  const random = randomFrom(seed)
  /** Kills before the last step was done. */
  let cut = 0
  for (let kill = 0; kill < kills; kill++) {
    await driver.start(spec)
    await write('old')
    await driver.close()
    const step = steps[kill % steps.length]!
    const importId = randomUUID()
    const child = spawn(
      process.execPath,
      [
        path.resolve(import.meta.dirname, '../../../../test/move-in-process.ts'),
        dataDir,
        folder,
        JSON.stringify(spec),
        archive,
        importId,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const ended = once(child, 'exit')
    const said: string[] = []
    const lines = readline.createInterface({ input: child.stdout })
    await new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        said.push(line)
        if (line === step) resolve()
      })
      lines.once('close', resolve)
    })
    expect(said).toContain(step)
    await pause(random() * lengthsMs[step] * 1.5)
    child.kill('SIGKILL')
    const [, signal] = (await ended) as [number | null, string | null]
    expect(signal).toBe('SIGKILL')
    if (!said.includes('done')) cut++

    driver = open(dataDir, parts)
    await driver.start(spec)
    const found = await seen(driver)
    expect(['old', 'new'], `killed in ${step}`).toContain(found)
    // The job runs again: from the beginning where the copy is missing or incomplete.
    if (found === 'old') {
      expect(await driver.layOutImport(spec, [archive])).toHaveProperty('found')
      while ((await driver.stepImport(spec, [])).phase !== 'done');
    }
    await driver.switchImport(spec, importId)
    await driver.start(spec)
    expect(await seen(driver)).toBe('new')
    const left = await fs.readdir(path.join(dataDir, 'sites', spec.id))
    expect(left.filter((name) => /^(?:former-|import$|restoring$)/.test(name))).toEqual([])
  }
  // Those in the first step come before the end on any machine.
  expect(cut).toBeGreaterThan(0)
})
