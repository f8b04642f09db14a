/**
 * An upgrade under load, from another commit to this one and back, twice: calls and visits that
 * failed. FROM names the commit; the one before HEAD where it is not set. The parent stays the one
 * of FROM, as on a machine that is upgraded by `npm run portal -- upgrade`.
 *
 *   FROM=572f950 npm run bench upgrade
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { dig } from '../test/dig.ts'
import { call, orderSite, report, signIn, startPortal, type BenchPortal } from './portal.ts'

const root = path.resolve(import.meta.dirname, '..')
const from = process.env['FROM'] ?? 'HEAD~1'
const scratch = mkdtempSync(path.join(os.tmpdir(), 'portal-upgrade-'))
const before = path.join(scratch, 'before')
const dataDir = path.join(scratch, 'data')

/** Calls so often until it is told to stop; answers how many there were and what went wrong. */
function over(everyMs: number, act: () => Promise<string | undefined>) {
  let going = true
  let made = 0
  const failed: string[] = []
  const inFlight = new Set<Promise<void>>()
  const all = (async () => {
    while (going) {
      made++
      const one = act()
        .catch((error: unknown) => (error as Error).message)
        .then((fault) => {
          inFlight.delete(one)
          if (fault !== undefined) failed.push(fault)
        })
      inFlight.add(one)
      await pause(everyMs)
    }
    await Promise.all(inFlight)
  })()
  return async (): Promise<{ made: number; failed: string[] }> => {
    going = false
    await all
    return { made, failed }
  }
}

const statusOf = (url: string, options: http.RequestOptions): Promise<string | undefined> =>
  new Promise((resolve) => {
    http
      .get(url, options, (answer) => {
        const { statusCode } = answer
        answer
          .resume()
          .once('end', () => resolve(statusCode === 200 ? undefined : String(statusCode)))
      })
      .once('error', (error) => resolve(error.message))
  })

function load(portal: BenchPortal, token: string, host: string) {
  const kept = new http.Agent({ keepAlive: true, maxSockets: 8 })
  let turn = 0
  const loads = {
    'calls of the API, 50 a second': over(20, () => {
      turn++
      const signedIn = turn % 5 === 0
      return statusOf(`${portal.url}${signedIn ? '/api/wp' : '/api/config'}`, {
        agent: turn % 2 === 0 ? kept : false,
        ...(signedIn && { headers: { authorization: `Bearer ${token}` } }),
      })
    }),
    'visits of a site, 5 a second': over(200, () =>
      statusOf(`http://127.0.0.1:${portal.sitesPort}/wp-login.php`, {
        headers: { host },
        agent: false,
      }),
    ),
    'DNS queries, 4 a second': over(250, async () => {
      const { rcode } = await dig(portal.dnsPort, {
        name: 'ns1.letspanel-dns.example',
        type: 'A',
      })
      return rcode === 'NOERROR' ? undefined : rcode
    }),
  }
  return async (): Promise<void> => {
    for (const [name, stop] of Object.entries(loads)) {
      const { made, failed } = await stop()
      report(`${name}: ${made} made, failed`, failed.length, 0, '')
      if (failed.length > 0) console.log(`      ${[...new Set(failed)].join(', ')}`)
    }
    kept.destroy()
  }
}

/** The release in `folder` takes over; answers the seconds that it took. */
function upgrade(folder: string): number {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'server/command.ts', 'upgrade', folder, '--json'],
    { cwd: before, env: { ...process.env, DATA_DIR: dataDir }, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`upgrade ${folder}: ${stdout}${stderr}`)
  return (JSON.parse(stdout) as { tookSeconds: number }).tookSeconds
}

execFileSync('git', ['worktree', 'add', '--detach', before, from], { cwd: root, stdio: 'ignore' })
try {
  if (!existsSync(path.join(before, 'node_modules')))
    execFileSync('cp', ['-al', path.join(root, 'node_modules'), before])
  execFileSync('npm', ['run', 'build', '--silent'], { cwd: before, stdio: 'inherit' })
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
    for (let round = 1; round <= 2; round++)
      for (const [name, folder] of [
        ['to this commit', root],
        [`back to ${from}`, before],
      ] as const) {
        const tookSeconds = upgrade(folder)
        const began = performance.now()
        const site = await orderSite(portal, token)
        console.log(
          `      ${round}. ${name} in ${tookSeconds} s; an order after it runs in ` +
            `${((performance.now() - began) / 1000).toFixed(1)} s (${site.domain})`,
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
