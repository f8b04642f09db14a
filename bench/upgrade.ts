/**
 * An upgrade under load, from another commit to this one and back, twice: failed calls and visits.
 * FROM names the commit; by default the one before HEAD. The parent process stays that of FROM, as
 * on a machine that is upgraded by `npm run portal -- upgrade`.
 *
 * FROM=572f950 npm run bench upgrade
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { call, orderSite, signIn, startPortal } from './portal.ts'
import { load } from './upgrade-load.ts'

const root = path.resolve(import.meta.dirname, '..')
const from = process.env['FROM'] ?? 'HEAD~1'
const scratch = mkdtempSync(path.join(os.tmpdir(), 'portal-upgrade-'))
const before = path.join(scratch, 'before')
const dataDir = path.join(scratch, 'data')

/**
 * Upgrades to the release in `folder` while the load continues; returns the seconds that it took.
 */
async function upgrade(folder: string): Promise<number> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'server/command.ts', 'upgrade', folder, '--json'],
    { cwd: before, env: { ...process.env, DATA_DIR: dataDir } },
  )
  return (JSON.parse(stdout) as { tookSeconds: number }).tookSeconds
}

execFileSync('git', ['worktree', 'add', '--detach', before, from], { cwd: root, stdio: 'ignore' })
try {
  if (!existsSync(path.join(before, 'node_modules')))
    execFileSync('cp', ['-al', path.join(root, 'node_modules'), before])
  execFileSync('npm', ['run', 'build', '--silent'], { cwd: before, stdio: 'inherit' })
  // A release refuses settings that only a later one knows, so the catalogue of the older one is
  // used; an operator's catalogue is older than both.
  process.env['CATALOG'] = path.join(before, 'catalog.yaml')
  const portal = await startPortal({
    dataDir,
    command: [
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      path.join(before, 'server', 'main.ts'),
    ],
  })
  try {
    const token = await signIn(portal)
    const { domain } = await orderSite(portal, token)
    const stop = load(portal, token, domain)
    const loaded = performance.now()
    for (let round = 1; round <= 2; round++)
      for (const [name, folder] of [
        ['to this commit', root],
        [`back to ${from}`, before],
      ] as const) {
        const beganSeconds = (performance.now() - loaded) / 1000
        const tookSeconds = await upgrade(folder)
        const began = performance.now()
        const site = await orderSite(portal, token)
        console.log(
          `      ${round}. after ${beganSeconds.toFixed(1)} s ${name} in ${tookSeconds} s; ` +
            `an order after it runs in ${((performance.now() - began) / 1000).toFixed(1)} s ` +
            `(${site.domain})`,
        )
        await call(portal, 'DELETE', `/api/wp/${site.id}`, token)
      }
    await stop()
  } finally {
    await portal.stop()
  }
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', before], { cwd: root, stdio: 'ignore' })
  rmSync(scratch, { recursive: true, force: true })
}
