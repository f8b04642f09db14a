/**
 * `npm run guards [-- finding …] [--seed N] [--count N] [--in folder]`: removes mends, one after
 * the other, in a clone of the last commit, and runs the test that guards each. A guard that passes
 * without its mend is useless. Without names, `--count` of them are chosen at random (20); the seed
 * is printed. `--in` names the folder of the clone, to reuse it.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { mends } from '../test/mends/index.ts'
import { guardsOf, type Mend } from '../test/mends/mend.ts'

const root = path.resolve(import.meta.dirname, '..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    count: { type: 'string', default: '20' },
    in: { type: 'string' },
  },
})
const guards = guardsOf(fs.readFileSync(path.join(root, 'docs/findings.md'), 'utf8'))

/** mulberry32 (public domain, T. Ettinger): the same seed chooses the same mends. */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function chosen(): readonly Mend[] {
  if (positionals.length > 0)
    return positionals.flatMap((name) => {
      const found = mends.filter(({ finding }) => finding === name)
      if (found.length === 0) throw new Error(`No mend of ${name} is known.`)
      return found
    })
  const next = random(Number(values.seed))
  const left = [...mends]
  const taken: Mend[] = []
  while (taken.length < Number(values.count) && left.length > 0)
    taken.push(...left.splice(Math.floor(next() * left.length), 1))
  return taken
}

const clone = values.in ?? fs.mkdtempSync(path.join(os.tmpdir(), 'portal-guards-'))
const git = (...args: string[]): void => {
  const { status, stderr } = spawnSync('git', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
}
if (fs.existsSync(path.join(clone, '.git'))) {
  git('-C', clone, 'fetch', '--quiet', root, 'HEAD')
  git('-C', clone, 'reset', '--quiet', '--hard', 'FETCH_HEAD')
} else git('clone', '--quiet', root, clone)

/** The part of Vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

/**
 * Whether the guard fails without the mend, and the output. The whole file is run: a test that
 * depends on earlier ones would fail anyway if run alone.
 */
function without(mend: Mend): { readonly fails: boolean; readonly said: string } {
  const guard = guards.find(
    ({ finding, file, title }) =>
      finding === mend.finding && (mend.guard ?? file) === file && (mend.title ?? title) === title,
  )
  if (!guard) throw new Error(`docs/findings.md names no guard of ${mend.finding}.`)
  for (const { file, mended, without } of mend.edits) {
    const where = path.join(clone, file)
    const text = fs.readFileSync(where, 'utf8')
    if (!text.includes(mended)) throw new Error(`${file} has not: ${mended}`)
    fs.writeFileSync(
      where,
      text.replace(mended, () => without),
    )
  }
  const began = Date.now()
  const report = path.join(clone, '.cache', 'guard.json')
  spawnSync(
    process.execPath,
    ['scripts/test.mjs', guard.file, '--reporter=json', `--outputFile=${report}`],
    {
      cwd: clone,
      encoding: 'utf8',
      timeout: 10 * 60_000,
      env: { ...process.env, NO_COLOR: '1' },
    },
  )
  git('-C', clone, 'checkout', '--quiet', '--', '.')
  // A suite that cannot be loaded proves nothing: this very test must have run and failed.
  const tests = fs.existsSync(report)
    ? (JSON.parse(fs.readFileSync(report, 'utf8')) as Report).testResults.flatMap(
        ({ assertionResults }) => assertionResults,
      )
    : []
  fs.rmSync(report, { force: true })
  const failed = tests.find(
    ({ status, fullName }) => status === 'failed' && fullName.includes(guard.title),
  )
  const seconds = Math.round((Date.now() - began) / 1000)
  const reason = failed?.failureMessages[0]?.split('\n')[0] ?? ''
  return {
    fails: failed !== undefined,
    said: `${guard.file}: ${guard.title} (${seconds} s) ${reason.slice(0, 120)}`,
  }
}

process.stdout.write(
  positionals.length > 0 ? '' : `Seed ${values.seed}, ${mends.length} mends are known.\n`,
)
let idle = 0
for (const mend of chosen()) {
  const { fails, said } = without(mend)
  if (!fails) idle += 1
  process.stdout.write(`${fails ? 'fails ' : 'PASSES'} without ${mend.finding}: ${said}\n`)
}
if (!values.in) fs.rmSync(clone, { recursive: true })
process.stdout.write(idle === 0 ? 'Every guard failed, as it should.\n' : `${idle} guards idle.\n`)
process.exit(idle === 0 ? 0 : 1)
