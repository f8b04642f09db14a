/**
 * The second barrier: what a site's process may do, as the kernel shows it, and tried from inside
 * as after a fault in php-wasm.
 */
import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  filesDir,
  checkoutIsOpen,
  fixture,
  open,
  phpProcessesOf,
  processesOf,
  runtimeDir,
} from '../../../../test/embedded-wordpress.ts'
import type { SiteAddress, SiteRuntime } from '../../driver.ts'
import { ask, specOf } from '../conformance.ts'
import { openCgroups, ownCgroup } from '../machine/cgroups.ts'
import { Confinement } from '../machine/confinement.ts'
import { firstSiteUser } from '../machine/site-users.ts'

const run = promisify(execFile)
const onLinux = process.platform === 'linux'
const asRoot = onLinux && firstSiteUser() !== null
/** Whether sites can have users of their own. */
const withUsers = asRoot && checkoutIsOpen()
const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }

/** A field of /proc/<pid>/status; proc(5). */
const statusOf = (pid: number, field: string): string =>
  new RegExp(`^${field}:[ \\t]*(.*)$`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  )?.[1] ?? ''

describe.skipIf(!onLinux)('the process of a site', { timeout: 180_000 }, () => {
  let parts: Awaited<ReturnType<typeof fixture>>
  let driver: SiteRuntime
  const [one, other] = [specOf(), specOf()]
  const siteDir = (id: string) => path.join(parts.dataDir, 'sites', id)
  const pidOf = (id: string): number => processesOf(id)[0]!

  beforeAll(async () => {
    parts = await fixture()
    driver = parts.driver
    await Promise.all(
      [one, other].map(async (spec) => {
        await driver.install(spec, admin)
        await driver.start(spec)
      }),
    )
  }, 170_000)
  afterAll(() => parts?.dispose(), 60_000)

  test('has no privileges, gains none, and the kernel ends it before portal and database', () => {
    // Two processes for each site: the container and its PHP.
    const all = [one, other].flatMap(({ id }) => [...processesOf(id), ...phpProcessesOf(id)])
    expect(all).toHaveLength(4)
    for (const pid of all) {
      expect(statusOf(pid, 'NoNewPrivs')).toBe('1')
      expect(statusOf(pid, 'CapEff')).toMatch(/^0+$/)
      if (process.getuid?.() === 0) expect(statusOf(pid, 'CapBnd')).toMatch(/^0+$/)
      expect(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim()).toBe('500')
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      expect(command).toContain('--permission')
      expect(command).not.toContain('--allow-worker')
      // The container starts PHP, and PHP starts nothing.
      const isPhp = command.some((word) => word.endsWith('php-worker.js'))
      expect(command.includes('--allow-child-process')).toBe(!isPhp)
      expect(command.includes('--allow-addons')).toBe(isPhp)
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
      expect(environment.toSorted()).toEqual(['PATH=/usr/bin:/bin', 'TZ=UTC'])
    }
  })

  test.skipIf(!withUsers)(
    'has its own user, who has nothing of another site, over starts and restores',
    async () => {
      const users = [one, other].map(({ id }) => Number(statusOf(pidOf(id), 'Uid').split('\t')[0]))
      expect(users[0]).not.toBe(users[1])
      for (const [index, { id }] of [one, other].entries()) {
        expect(users[index]).toBeGreaterThanOrEqual(firstSiteUser()!)
        expect(statusOf(pidOf(id), 'Groups')).toBe('')
        const secret = path.join(siteDir(id), 'wordpress', 'wp-config.php')
        expect(statSync(siteDir(id)).mode & 0o777).toBe(0o710)
        expect(statSync(secret).uid).toBe(users[index])
        const read = (user: number) =>
          run('setpriv', [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', 'cat', secret])
        expect((await read(users[index]!)).stdout).toContain('AUTH_KEY')
        await expect(read(users[1 - index]!)).rejects.toThrow('Permission denied')
      }
      const copy = { file: path.join(parts.dataDir, 'one.tar.gz') }
      const figures = await driver.backup(one.id, copy.file)
      await driver.restore(one, { ...copy, figures }, '11111111-2222-4333-8444-555555555555')
      await driver.start(one)
      expect(Number(statusOf(pidOf(one.id), 'Uid').split('\t')[0])).toBe(users[0])
      await parts.put(
        one.id,
        'probe-write.php',
        `<?php echo file_put_contents( __DIR__ . '/written.txt', 'x' );`,
      )
      const [to] = driver.upstreams(one.id) as [SiteAddress]
      expect((await ask(to, `${one.url}/probe-write.php`)).text).toBe('1')
      // Signing in consumes a ticket that the portal wrote.
      expect((await ask(to, await driver.adminLink(one.id, 'boss'))).status).toBe(302)
    },
  )

  test('JavaScript out of PHP reads and writes its own folders and starts nothing', async () => {
    const confinement = new Confinement({
      nodePath: process.execPath,
      runtimeDir,
      filesDir,
      sitesDir: path.join(parts.dataDir, 'sites'),
      exampleUser: firstSiteUser(),
      log: { warn: () => {} },
    })
    const own = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-escape-'))
    const user = (await confinement.hasUsers()) ? firstSiteUser() : null
    const neighbour = path.join(siteDir(other.id), 'wordpress', 'wp-config.php')
    const outside = path.join(os.tmpdir(), 'portal-escaped')
    const script = path.join(own, 'escape.mjs')
    const wall = path.join(runtimeDir, 'src/second-wall.js')
    const addon = path.join(runtimeDir, 'node_modules/fs-ext-extra-prebuilt/x.node')
    await fs.writeFile(
      script,
      `import fs from 'node:fs'
import { Worker } from 'node:worker_threads'
import { spawnSync } from 'node:child_process'
import { answerConstantsOnly, refuseNativeCode } from ${JSON.stringify(wall)}
answerConstantsOnly()
refuseNativeCode()
const tries = {
  passwd: () => fs.readFileSync('/etc/passwd'),
  neighbour: () => fs.readFileSync(${JSON.stringify(neighbour)}),
  outside: () => fs.writeFileSync(${JSON.stringify(outside)}, ''),
  program: () => { const { error } = spawnSync('id'); if (error) throw error },
  thread: () => new Worker('', { eval: true }),
  native: () => process.dlopen({ exports: {} }, ${JSON.stringify(addon)}),
  binding: () => process.binding('spawn_sync'),
  link: () => fs.symlinkSync('/etc/passwd', ${JSON.stringify(path.join(own, 'link'))}),
  own: () => fs.writeFileSync(${JSON.stringify(path.join(own, 'mine'))}, 'x'),
}
const told = {}
for (const [name, act] of Object.entries(tries))
  try { act(); told[name] = 'done' }
  catch (error) { told[name] = error.code ?? error.message }
console.log(JSON.stringify(told))`,
    )
    if (user !== null) await fs.chown(own, user, user)
    const { file, args } = await confinement.command(
      script,
      [],
      { reads: [runtimeDir], writes: [own] },
      user,
      { addons: true },
    )
    const { stdout } = await run(file, [...args])
    const denied = 'ERR_ACCESS_DENIED'
    expect(JSON.parse(stdout)).toEqual({
      passwd: denied,
      neighbour: denied,
      outside: denied,
      program: denied,
      thread: denied,
      native: denied,
      binding: denied,
      link: denied,
      own: 'done',
    })
    await fs.rm(own, { recursive: true })
  })

  test.skipIf(!asRoot)(
    'where its user cannot come in, it runs as the portal, without privileges, and says so',
    async () => {
      const closed = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-closed-'))
      const dataDir = path.join(closed, 'data')
      await fs.mkdir(dataDir)
      const warnings: string[] = []
      const inside = open(dataDir, { log: { warn: (_detail, text) => warnings.push(text) } })
      const spec = specOf()
      await inside.install(spec, admin)
      await inside.start(spec)
      expect(statusOf(pidOf(spec.id), 'Uid').split('\t')[0]).toBe('0')
      expect(statusOf(pidOf(spec.id), 'CapEff')).toMatch(/^0+$/)
      expect(warnings).toEqual([expect.stringContaining('sites run as root')])
      await inside.close()
      await fs.rm(closed, { recursive: true })
    },
  )

  test.skipIf(!withUsers)(
    'runs as well where the portal is no root, as under the systemd unit, and without privileges',
    async () => {
      const dataDir = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-plain-'))
      const plain = 65_534
      await fs.chown(dataDir, plain, plain)
      const spec = specOf()
      const script = `
        import { createEmbedded } from ${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))}
        import fs from 'node:fs'
        const [dataDir, runtimeDir, filesDir, spec, admin] = JSON.parse(process.argv[1])
        const warnings = []
        const driver = createEmbedded({ dataDir, runtimeDir, filesDir, nodePath: process.execPath,
          settings: { internet: false, maxContainers: 4, pageSeconds: 60, maxCpu: null,
            maxRamMb: null },
          log: { warn: (_, text) => warnings.push(text) } })
        await driver.install(spec, admin)
        await driver.start(spec)
        const run = dataDir + '/sites/' + spec.id + '/run/'
        const named = fs.readdirSync(run).find((name) => name.endsWith('.pid'))
        const pid = fs.readFileSync(run + named, 'utf8')
        const status = fs.readFileSync('/proc/' + pid + '/status', 'utf8')
        const field = (name) => new RegExp('^' + name + ':[ \\t]*(.*)$', 'm').exec(status)[1]
        const score = fs.readFileSync('/proc/' + pid + '/oom_score_adj', 'utf8').trim()
        const file = dataDir + '/copy.tar.gz'
        const figures = await driver.backup(spec.id, file)
        const proven = JSON.stringify(await driver.prove(file)) === JSON.stringify(figures)
        await driver.remove(spec.id)
        const left = fs.readdirSync(dataDir + '/sites')
        console.log(JSON.stringify({ warnings, user: field('Uid').split('\\t')[0],
          privileges: field('CapPrm'), ambient: field('CapAmb'), noNew: field('NoNewPrivs'),
          score, proven, left }))
        await driver.close()`
      const { stdout } = await run(
        'setpriv',
        [
          `--reuid=${plain}`,
          `--regid=${plain}`,
          '--clear-groups',
          '--no-new-privs',
          '--inh-caps=+net_bind_service',
          '--ambient-caps=+net_bind_service',
          process.execPath,
          '--input-type=module',
          '-e',
          script,
          JSON.stringify([dataDir, runtimeDir, filesDir, spec, admin]),
        ],
        { cwd: '/' },
      )
      expect(JSON.parse(stdout)).toEqual({
        warnings: [],
        user: String(plain),
        privileges: '0000000000000000',
        ambient: '0000000000000000',
        noNew: '1',
        score: '500',
        proven: true,
        left: [],
      })
      await fs.rm(dataDir, { recursive: true })
    },
  )
})

describe('limits that the kernel holds', () => {
  test('a delegated group is divided: portal below, each container beside, limited', async () => {
    // Plain files instead of the kernel's: this machine may have no cgroup v2 to delegate.
    const top = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-cgroup-'))
    const read = (...file: string[]) => fs.readFile(path.join(top, ...file), 'utf8')
    await fs.writeFile(path.join(top, 'cgroup.events'), 'populated 1\n')
    await fs.writeFile(path.join(top, 'cgroup.controllers'), 'cpuset cpu io memory pids\n')
    await fs.writeFile(path.join(top, 'cgroup.subtree_control'), '')
    await fs.writeFile(path.join(top, 'cgroup.procs'), '4242\n')
    const cgroups = await openCgroups(top)
    expect(cgroups?.controllers).toEqual(['memory', 'cpu', 'pids'])
    expect(await read('portal', 'cgroup.procs')).toBe('4242')
    expect(await read('cgroup.subtree_control')).toBe('+memory +cpu +pids')
    await cgroups!.hold('a-web-1.1', 4711, {
      memoryMb: 4_000,
      cpu: 2,
      processes: 10,
    })
    expect(await read('site-a-web-1.1', 'memory.max')).toBe(String(4_600 * 1_048_576))
    expect(await read('site-a-web-1.1', 'cpu.max')).toBe('200000 100000')
    expect(await read('site-a-web-1.1', 'cpu.weight')).toBe('10')
    expect(await read('site-a-web-1.1', 'pids.max')).toBe('240')
    expect(await read('site-a-web-1.1', 'cgroup.procs')).toBe('4711')
    // When it starts in the portal's own group (DelegateSubgroup=portal), the group above is
    // divided.
    expect((await openCgroups(path.join(top, 'portal')))?.controllers).toHaveLength(3)
    await fs.rm(top, { recursive: true })
  })

  test('a group that is not ours to divide is left alone', async () => {
    const top = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-cgroup-'))
    await fs.writeFile(path.join(top, 'cgroup.controllers'), 'memory\n')
    await fs.writeFile(path.join(top, 'cgroup.subtree_control'), '')
    // A folder without cgroup.events is the root of the tree.
    expect(await openCgroups(top)).toBeNull()
    expect(await openCgroups(null)).toBeNull()
    expect(await fs.readdir(top)).toHaveLength(2)
    await fs.rm(top, { recursive: true })
    const own = await ownCgroup()
    if (own !== null) expect(statSync(own).isDirectory()).toBe(true)
  })
})
