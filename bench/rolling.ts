/**
 * An upgrade of several machines, one after the other, under load, from another commit to this one
 * and back, as docs/operate.md describes it: failed calls and visits. In between, a portal of the
 * old release serves beside one of the new for MINUTES (1), with orders at both; on the way back
 * for BACK_MINUTES (the same by default).
 *
 * FROM=572f950 MINUTES=60 npm run bench rolling
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openMachines, type Machines } from '../test/machines.ts'
import type { PortalProcess } from '../test/portal-process.ts'
import { call, orderSite, report, signIn } from './portal.ts'
import { load } from './upgrade-load.ts'

const root = path.resolve(import.meta.dirname, '..')
const from = process.env['FROM'] ?? 'HEAD~1'
const minutes = Number(process.env['MINUTES'] ?? 1)
const backMinutes = Number(process.env['BACK_MINUTES'] ?? minutes)
const scratch = mkdtempSync(path.join(os.tmpdir(), 'portal-rolling-'))
const before = path.join(scratch, 'before')

const elapsed = (began: number): string => `${((performance.now() - began) / 1000).toFixed(1)} s`

async function upgradePortal(one: PortalProcess, release: string): Promise<void> {
  const { code, said } = await one.command('upgrade', {}, [release, '--json'])
  if (code !== 0) throw new Error(`upgrade to ${release}: ${said}`)
  one.release = release
}

/** A full restart, as a node and a name server need it. */
async function restart(machines: Machines, one: PortalProcess, release: string): Promise<void> {
  await one.terminate()
  one.release = release
  await machines.start(one)
}

/** Orders and removes servers at each portal in turn for this long; returns how many ran. */
async function ordersFor(machines: Machines, token: string, ms: number): Promise<number> {
  const end = performance.now() + ms
  let ran = 0
  do {
    for (const { url, sandboxUrl, sitesPort, dnsPort } of [machines.first, machines.second]) {
      const portal = { url, sandboxUrl, sitesPort, dnsPort }
      const { id } = await orderSite(portal, token)
      await call(portal, 'DELETE', `/api/wp/${id}`, token)
      ran++
    }
    // A customer may place twenty orders an hour.
    await pause(Math.min(600_000, Math.max(0, end - performance.now())))
  } while (performance.now() < end)
  return ran
}

execFileSync('git', ['worktree', 'add', '--detach', before, from], { cwd: root, stdio: 'ignore' })
try {
  if (!existsSync(path.join(before, 'node_modules')))
    execFileSync('cp', ['-al', path.join(root, 'node_modules'), before])
  execFileSync('npm', ['run', 'build', '--silent'], { cwd: before, stdio: 'inherit' })
  const machines = await openMachines({ release: before, more: { DEMO: 'on' } })
  const { first, second, hanoi, sydney, address } = machines
  try {
    const portal = {
      url: address,
      sandboxUrl: first.sandboxUrl,
      sitesPort: first.sitesPort,
      dnsPort: first.dnsPort,
    }
    const token = await signIn(portal)
    // On the first machine, whose sites stay up: restarting a node takes its own sites down.
    const { domain } = await orderSite(portal, token, 2)
    const stop = load(portal, token, domain)
    for (const [name, release, together] of [
      ['to this commit', root, minutes],
      [`back to ${from}`, before, backMinutes],
    ] as const) {
      const began = performance.now()
      await upgradePortal(first, release)
      const ran = await ordersFor(machines, token, together * 60_000)
      console.log(`      ${name}: old beside new, ${ran} servers ordered, ran and were deleted`)
      await upgradePortal(second, release)
      for (const one of [hanoi, sydney]) await restart(machines, one, release)
      console.log(`      ${name}: all machines after ${elapsed(began)}`)
      await ordersFor(machines, token, 0)
    }
    await stop()
    const check = await first.command('ledger:check', {}, ['--full'])
    report('the ledger after it: exit code', check.code ?? 1, 0, '')
  } finally {
    await machines.close()
  }
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', before], { cwd: root, stdio: 'ignore' })
  rmSync(scratch, { recursive: true, force: true })
}
