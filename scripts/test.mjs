/**
 * `npm test`: all tests, from a bare clone. `--fast` runs those that open no portal, no browser and
 * no process of ours (`npm run test:fast`), `--rest` the others. Further arguments are passed to
 * Vitest.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { testsByTier } from './tiers.mjs'
import {
  ensureServerBundle,
  ensurePackages,
  ensureWebBuild,
  ensureWordpress,
  environment,
  pinnedNode,
  root,
} from './bootstrap.mjs'

const gigabyte = 2 ** 30

function remove(folder) {
  try {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  } catch (error) {
    process.stderr.write(`${folder} was not removed: ${error.message}\n`)
  }
}
/**
 * Removes folders that killed runs left behind: each folder's name contains the id of the process
 * that made it.
 */
function removeLeftovers(home) {
  for (const name of fs.readdirSync(home)) {
    const pid = Number(/^portal-tests-(\d+)-/.exec(name)?.[1])
    if (!Number.isInteger(pid)) continue
    try {
      process.kill(pid, 0)
    } catch (error) {
      // Any other error means that the process runs, as another user.
      if (error.code === 'ESRCH') remove(path.join(home, name))
    }
  }
}

/**
 * The folder for the tests' files, removed at the end. It is in memory if there is enough: a site
 * has thousands of files, and half the time of a site's test was the file system finding places for
 * them.
 */
function scratchFolder() {
  const memory = '/dev/shm'
  for (const home of [memory, os.tmpdir()]) if (fs.existsSync(home)) removeLeftovers(home)
  const left = fs.existsSync(memory) ? fs.statfsSync(memory) : { bavail: 0, bsize: 0 }
  const roomy = left.bavail * left.bsize > 8 * gigabyte && os.freemem() > 12 * gigabyte
  const home = roomy ? memory : os.tmpdir()
  const folder = fs.mkdtempSync(path.join(home, `portal-tests-${process.pid}-`))
  // As root, sites and the database run as other users, who must be able to enter the folder.
  fs.chmodSync(folder, 0o755)
  return folder
}

const tiers = ['--fast', '--rest']

await ensurePackages()
const given = process.argv.slice(2)
const fast = given.includes('--fast')
const files = [
  ...(fast ? testsByTier().fast : []),
  ...(given.includes('--rest') ? testsByTier().rest : []),
]
if (!fast) {
  await ensureWordpress()
  await ensureWebBuild()
  await ensureServerBundle()
}
const scratch = scratchFolder()
const vitest = spawn(
  pinnedNode(),
  [
    path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    ...files,
    ...given.filter((argument) => !tiers.includes(argument)),
  ],
  {
    cwd: root,
    env: { ...environment(), TMPDIR: scratch },
    stdio: 'inherit',
    // A process group of its own, so that its workers are signalled too, exactly once.
    detached: true,
  },
)
let told = false
// Vitest ends at once, without the teardown of its tests. Databases and sites end by themselves
// when their parent is gone. Then the folder is removed, and this process ends.
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    if (!told && vitest.pid !== undefined) process.kill(-vitest.pid, signal)
    told = true
  })
vitest.on('exit', (code, signal) => {
  remove(scratch)
  process.exit(signal ? 1 : (code ?? 1))
})
