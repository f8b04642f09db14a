/**
 * A second machine, in another folder, becomes a node by the command that `node add` prints: it
 * gets its settings once, starts, and receives servers.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serverProgram } from '../scripts/bootstrap.mjs'
import { joinRequest, openSettings } from '../server/wordpress/index.ts'
import { runCommand } from './operator.ts'
import { eventually, freePort, manualClock, openTestPortal, type TestPortal } from './portal.ts'
import { newMember } from './staff.ts'

const clock = manualClock()
const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-join-'))
const settings = path.join(folder, 'node.env')
const lines: string[] = []
let portal: TestPortal
let joined: ChildProcess | undefined
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    env: { NODE_REGIONS: '1,2,77' },
    logLines: (line) => lines.push(line),
  })
})
afterAll(async () => {
  if (joined?.exitCode === null) {
    const gone = new Promise((resolve) => joined?.once('exit', resolve))
    joined.kill('SIGTERM')
    await gone
  }
  await portal.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Added {
  readonly command: string
  readonly joinKey: string
  readonly key: string
}
const add = async (name: string, line: string): Promise<Added> => {
  const { code, said } = await runCommand(
    portal,
    { PORTAL_URL: portal.url },
    'node',
    'add',
    name,
    line,
    '--regions',
    '1',
    '--json',
  )
  expect(code, said).toBe(0)
  return JSON.parse(said) as Added
}

const nodeAdd = (...words: string[]) =>
  runCommand(portal, { PORTAL_URL: portal.url }, 'node', 'add', ...words)

test('for another key what was written down stays, and no data centre is made up', async () => {
  const line = '10.0.0.21:7443'
  const written = async () =>
    await portal.app.db
      .selectFrom('node')
      .select(['address', 'sites_address', 'regions'])
      .where('id', '=', 'hn5')
      .executeTakeFirst()
  const unknown = await nodeAdd('hn5', line, '--regions', '1,77')
  expect(unknown).toEqual({
    code: 1,
    said: expect.stringMatching(/^The catalogue has no data centre 77: it has 1 \(Hà Nội\), /),
  })
  for (const wrong of [['--regions'], ['--regions', '1,,2'], ['--sites'], ['--regions', '']])
    expect(await nodeAdd('hn5', line, ...wrong)).toMatchObject({ code: 64 })
  expect(await written()).toBeUndefined()
  const first = await nodeAdd('hn5', line, '--regions', '1,2', '--sites', '10.0.0.21:8082')
  expect([first.code, first.said]).toEqual([0, expect.stringContaining('data centres 1,2, 10.0')])
  const row = { address: line, sites_address: '10.0.0.21:8082', regions: [1, 2] }
  expect(await written()).toEqual(row)
  const again = await nodeAdd('hn5', '10.0.0.22:7443')
  expect([again.code, again.said]).toEqual([0, expect.stringContaining('data centres 1,2, 10.0')])
  expect(await written()).toEqual({ ...row, address: '10.0.0.22:7443' })
  expect((await nodeAdd('hn5', line, '--regions', 'all')).code).toBe(0)
  expect(await written()).toEqual({ ...row, regions: null })
  const why = ['--reason', 'the machine went back']
  expect((await runCommand(portal, {}, 'node', 'drain', 'hn5', ...why)).code).toBe(0)
  expect((await runCommand(portal, {}, 'node', 'undrain', 'hn5')).code).toBe(0)
  expect((await runCommand(portal, {}, 'node', 'remove', 'hn5', ...why)).code).toBe(0)
  expect(await written()).toBeUndefined()
  const shown = await runCommand(portal, {}, 'node', 'key', 'ns')
  const trail = (await runCommand(portal, {}, 'acts', '--json')).said
  const { acts } = JSON.parse(trail) as { acts: object[] }
  const said = { actor: 'command', subject: { kind: 'node', id: 'hn5' } }
  const [is, was] = [{ nodeState: 'active' }, { nodeState: 'draining', empties: true }]
  expect(acts).toMatchObject([
    { act: 'node.key', subject: { id: 'ns' } },
    { ...said, act: 'node.remove', reason: why[1], before: { address: line }, after: null },
    { ...said, act: 'node.activate', reason: 'activated by command', before: was, after: is },
    { ...said, act: 'node.drain', reason: why[1], before: is, after: was },
    { ...said, act: 'node.add', before: { regions: [1, 2] }, after: { regions: 'all' } },
    { ...said, act: 'node.add', before: { address: line }, after: { address: '10.0.0.22:7443' } },
    { ...said, act: 'node.add', before: null, after: { edge: '10.0.0.21:8082' } },
  ])
  // The key is shown once, and only on the shell.
  const joinKey = /^ {2}((?:[a-z0-9]{5}-){3,}[a-z0-9]+)$/m.exec(first.said)?.[1]
  expect(trail).not.toContain(joinKey)
  expect(trail).not.toContain(shown.said.trim())
  const owner = await newMember(portal, 'owner', { clock })
  const body = { node: 'hn5', address: line, reason: 'from the desk' }
  expect((await owner.act('node.add', body)).status).toBe(403)
  expect(await written()).toBeUndefined()
})

/** Runs the printed command, as on the other machine; the key is given by standard input. */
function run(
  command: string,
  key: string,
  more: readonly string[],
  env: Record<string, string>,
  user: { readonly uid?: number; readonly gid?: number } = {},
) {
  const words = command.replace('npm run portal -- ', '').split(' ')
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', serverProgram('command'), ...words, ...more],
    {
      ...user,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '/',
        DATA_DIR: path.join(folder, 'data'),
        ENV_FILE: settings,
        LOG_LEVEL: 'warn',
        ...env,
      },
    },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stdin.end(`${key}\n`)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, ended, said: () => said }
}

test('a data centre that the catalogue does not have is named at the start', () => {
  const [line, ...more] = lines.filter((one) => one.includes('NODE_REGIONS names data centres'))
  expect([line, more]).toEqual([expect.stringMatching(/"level":40.*"ids":\[77\]/), []])
})

test('a key that is wrong, used up or too old opens nothing', async () => {
  writeFileSync(settings, '')
  const line = `127.0.0.1:${await freePort()}`
  const { joinKey, key } = await add('hn7', line)
  const join = (body: object) =>
    portal.call<{ sealed: string }>('POST', '/api/nodes/join', { body })
  const wrong = joinRequest('aaaaa-aaaaa', 'hn7')
  expect((await join(wrong)).status).toBe(404)
  expect((await join(joinRequest(joinKey, 'hn8'))).status).toBe(404)
  const asked = joinRequest(joinKey, 'hn7')
  const told = await join(asked)
  expect(told.status, told.text).toBe(200)
  // Neither the join key nor the line's key is in what was sent.
  for (const secret of [joinKey, key])
    expect(told.text + JSON.stringify(asked)).not.toContain(secret)
  expect(openSettings(joinKey, asked, told.body.result.sealed).variables).toMatchObject({
    ROLES: 'node',
    NODE_NAME: 'hn7',
    NODE_LISTEN: line,
    NODE_KEY: key,
  })
  expect(() => openSettings('aaaaa', asked, told.body.result.sealed)).toThrow()
  expect((await join(joinRequest(joinKey, 'hn7'))).status).toBe(404)
  const { joinKey: old } = await add('hn7', line)
  clock.advance(61 * 60_000)
  expect((await join(joinRequest(old, 'hn7'))).status).toBe(404)
  clock.advance(-61 * 60_000)
})

test('where it cannot be written down, the portal is not asked, and the key is good', async () => {
  const { command, joinKey } = await add('hn6', `127.0.0.1:${await freePort()}`)
  const join = async (user = {}) => {
    const { ended, said } = run(command, joinKey, ['--no-start'], { LOG_LEVEL: 'silent' }, user)
    return { code: await ended, said: said() }
  }
  // The service's group may read the file, and only its owner may write it.
  writeFileSync(settings, 'DATABASE_URL=postgres://db/portal\n')
  expect(await join()).toEqual({
    code: 1,
    said: expect.stringContaining('DATABASE_URL: this machine is set up already') as string,
  })
  writeFileSync(settings, '# of the service\n')
  chmodSync(settings, 0o444)
  chmodSync(folder, 0o711)
  // Root can write any file, so another user is used.
  const plain = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  expect(await join(plain)).toEqual({
    code: 1,
    said: expect.stringMatching(/cannot be written .*EACCES.* the key is not used/s) as string,
  })
  chmodSync(settings, 0o640)
  expect(await join()).toEqual({
    code: 0,
    said: expect.stringContaining('This machine is the node hn6.') as string,
  })
  expect(statSync(settings).mode & 0o777).toBe(0o640)
  expect(readFileSync(settings, 'utf8')).toMatch(/^# of the service\n[^]*NODE_NAME=hn6\n/)
  writeFileSync(settings, '')
  chmodSync(settings, 0o644)
})

test(
  'by the printed command another machine joins, and is reached',
  { timeout: 180_000 },
  async () => {
    const { command, joinKey } = await add('hn9', `127.0.0.1:${await freePort()}`)
    const env = { SITES_PORT: String(await freePort()) }
    const { child, said, ended } = run(command, joinKey, [], env)
    joined = child
    await eventually(
      'the node',
      async () => {
        if (child.exitCode !== null) throw new Error(said())
        await portal.app.nodes.look()
        return portal.app.nodes.reachable().some(({ node }) => node === 'hn9')
      },
      150,
    )
    expect(said()).toContain('This machine is the node hn9.')
    expect(statSync(settings).mode & 0o777).toBe(0o600)
    expect(readFileSync(settings, 'utf8')).toContain('NODE_NAME=hn9')
    // A machine that is already set up is not changed.
    const again = await add('hn10', `127.0.0.1:${await freePort()}`)
    const before = readFileSync(settings, 'utf8')
    const refused = run(again.command, again.joinKey, ['--no-start'], env)
    expect([await refused.ended, refused.said()]).toEqual([
      1,
      expect.stringContaining('this machine is set up already') as string,
    ])
    expect(readFileSync(settings, 'utf8')).toBe(before)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  },
)
