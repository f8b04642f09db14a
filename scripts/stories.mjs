/**
 * `npm run stories -- <commit>`: which test titles (with their groups) that commit has and this one
 * lacks, and the reverse. Run it when tests are moved, so that none is lost.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { ensurePackages, environment, pinnedNode, root } from './bootstrap.mjs'

await ensurePackages()
const [commit = 'HEAD~1'] = process.argv.slice(2)
const scratch = mkdtempSync(path.join(os.tmpdir(), 'portal-stories-'))

const run = (command, args, cwd) => {
  const { status, stderr, stdout } = spawnSync(command, args, {
    cwd,
    env: environment(),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
}

/** How often each test title occurs in the tree at `folder`, whose packages must be installed. */
function storiesOf(folder, name) {
  const file = path.join(scratch, `${name}.json`)
  run(
    pinnedNode(),
    [path.join(folder, 'node_modules', 'vitest', 'vitest.mjs'), 'list', `--json=${file}`],
    folder,
  )
  const counted = new Map()
  for (const { name: title } of JSON.parse(readFileSync(file, 'utf8')))
    counted.set(title, (counted.get(title) ?? 0) + 1)
  return counted
}

const before = path.join(scratch, 'before')
run('git', ['clone', '--quiet', root, before], root)
run('git', ['checkout', '--quiet', commit], before)
run('npm', ['install', '--no-save', '--no-audit', '--no-fund'], before)
const [then, now] = [storiesOf(before, 'then'), storiesOf(root, 'now')]
const missing = (from, in_) =>
  [...from].flatMap(([title, times]) =>
    Array.from({ length: Math.max(0, times - (in_.get(title) ?? 0)) }, () => title),
  )
const sum = (counted) => [...counted.values()].reduce((all, times) => all + times, 0)
const [gone, fresh] = [missing(then, now), missing(now, then)]
process.stdout.write(`${commit}: ${sum(then)} stories; now ${sum(now)}\n`)
for (const title of gone) process.stdout.write(`- ${title}\n`)
for (const title of fresh) process.stdout.write(`+ ${title}\n`)
process.stdout.write(`${gone.length} are no longer told, ${fresh.length} are new.\n`)
rmSync(scratch, { recursive: true })
