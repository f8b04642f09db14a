/** A program reaches the files of a server by SFTP, as the owner's keys permit. */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import ssh2, { type SFTPWrapper } from 'ssh2'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { SftpAccess, SshKey } from '../../../contract/wordpress-sftp.ts'
import { orderServer } from '../../../test/ordered-servers.ts'
import {
  eventually,
  freePort,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../../test/portal.ts'
import { makeSshKey } from '../../../test/ssh-keys.ts'

const mine = makeSshKey()
let portal: TestPortal
let owner: TestCustomer
let server: { id: string; name: string }
let port: number
const clients = new Set<ssh2.Client>()

const api = <T>(method: string, way: string, body?: unknown, token = owner.token) =>
  portal.call<T>(method, `/api/wp/${server.id}/sftp${way}`, { token, body })
const addKey = (key: string, name = 'laptop') => api<SshKey>('POST', '/keys', { name, key })

beforeAll(async () => {
  port = await freePort()
  portal = await openTestPortal({ env: { SFTP_PORT: String(port) } })
  owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  server = await orderServer(portal, owner)
  expect((await addKey(mine.public)).status).toBe(201)
})
afterEach(() => {
  for (const client of clients) client.destroy()
  clients.clear()
})
afterAll(() => portal?.close())

/** Rejects where the sign-in is refused. */
async function connect(
  user = server.name,
  privateKey: string | undefined = mine.private,
  more: Partial<ssh2.ConnectConfig> = {},
): Promise<ssh2.Client> {
  const client = new ssh2.Client()
  clients.add(client)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  client.on('ready', resolve).on('error', reject)
  client.on('close', () => reject(new Error('closed')))
  client.connect({ host: '127.0.0.1', port, username: user, privateKey, ...more })
  await promise
  client.setNoDelay(true)
  return client
}
/** One request; resolves with its answer, rejects with the server's refusal. */
const ask = <T = void>(request: (done: (error?: Error | null, answer?: T) => void) => void) =>
  new Promise<T>((resolve, reject) =>
    request((error, answer) => (error ? reject(error) : resolve(answer as T))),
  )
const actsOf = (sftp: SFTPWrapper) => ({
  names: async (where: string) =>
    (await ask<ssh2.FileEntryWithStats[]>((done) => sftp.readdir(where, done))).map(
      ({ filename }) => filename,
    ),
  write: (where: string, data: string | Buffer) => ask((done) => sftp.writeFile(where, data, done)),
  read: (where: string) => ask<Buffer>((done) => sftp.readFile(where, done)),
  stat: (where: string) => ask<ssh2.Stats>((done) => sftp.stat(where, done)),
  rename: (from: string, to: string) => ask((done) => sftp.rename(from, to, done)),
  mkdir: (where: string) => ask((done) => sftp.mkdir(where, done)),
  rmdir: (where: string) => ask((done) => sftp.rmdir(where, done)),
  unlink: (where: string) => ask((done) => sftp.unlink(where, done)),
  realpath: (where: string) => ask<string>((done) => sftp.realpath(where, done)),
  symlink: (to: string, where: string) => ask((done) => sftp.symlink(to, where, done)),
  setstat: (where: string, set: { mode: number; mtime: number; atime: number }) =>
    ask((done) => sftp.setstat(where, set, done)),
  open: (where: string, flags: 'w' | 'a' | 'r+' | 'wx') =>
    ask<Buffer>((done) => sftp.open(where, flags, done)),
})
const sessionOf = (client: ssh2.Client) => ask<SFTPWrapper>((done) => client.sftp(done))
const session = async () => actsOf(await sessionOf(await connect()))
const onDisk = (where: string) => path.join(portal.dataDir, 'sites', server.id, 'wordpress', where)

test('says where to connect, and by which key we are known', async () => {
  const { body } = await api<SftpAccess>('GET', '')
  expect(body.result.address).toEqual({
    host: new URL(portal.config.portalUrl).hostname,
    port,
    user: server.name,
    fingerprint: expect.stringMatching(/^SHA256:[\w+/]{43}$/) as string,
  })
  let seen = ''
  await connect(server.name, mine.private, {
    hostHash: 'sha256',
    hostVerifier: (hash: string) => {
      seen = `SHA256:${Buffer.from(hash, 'hex').toString('base64').replace(/=+$/, '')}`
      return true
    },
  })
  expect(seen).toBe(body.result.address?.fingerprint)
  const key = await eventually('its use is noted', async () => {
    const [one] = (await api<SftpAccess>('GET', '')).body.result.keys
    return one?.usedAt != null && one
  })
  expect(key).toMatchObject({ name: 'laptop', kind: 'ed25519', usedFrom: '127.0.0.1' })
})

test('files go up and down, are listed, renamed and deleted', async () => {
  const sftp = await session()
  expect(await sftp.realpath('.')).toBe('/')
  expect(await sftp.names('/')).toEqual(expect.arrayContaining(['index.php', 'wp-content']))
  expect(await sftp.names('wp-content')).not.toContain('database')
  await sftp.mkdir('/wp-content/ảnh')
  // Larger than a piece, and not a multiple of one.
  const large = Buffer.alloc(1_300_001, 'xin chào ')
  await sftp.write('/wp-content/ảnh/a.txt', large)
  expect((await sftp.read('/wp-content/ảnh/a.txt')).equals(large)).toBe(true)
  expect((await fs.readFile(onDisk('wp-content/ảnh/a.txt'))).equals(large)).toBe(true)
  const { size, mode } = await sftp.stat('/wp-content/ảnh/a.txt')
  expect([size, mode & 0o170000]).toEqual([large.length, 0o100000])
  await sftp.setstat('/wp-content/ảnh/a.txt', { mtime: 86_400, atime: 86_400, mode: 0o4604 })
  const set = await fs.stat(onDisk('wp-content/ảnh/a.txt'))
  expect([set.mtimeMs, set.mode & 0o7777]).toEqual([86_400_000, 0o604])
  await sftp.write('/wp-content/ảnh/a.txt', '')
  expect((await sftp.stat('/wp-content/ảnh/a.txt')).size).toBe(0)
  await expect(sftp.rmdir('/wp-content/ảnh')).rejects.toThrow('of that name')
  await expect(sftp.unlink('/wp-content/ảnh')).rejects.toThrow('not a file')
  await sftp.rename('/wp-content/ảnh/a.txt', '/wp-content/ảnh/b.txt')
  await sftp.unlink('/wp-content/ảnh/b.txt')
  await sftp.rmdir('/wp-content/ảnh')
  await expect(sftp.stat('/wp-content/ảnh')).rejects.toMatchObject({ code: 2 })
})

test('nothing outside the site is reached', async () => {
  await fs.symlink('/etc', onDisk('wp-content/way'))
  const sftp = await session()
  for (const where of ['../../../etc/passwd', '/etc/passwd', '//..//../etc/passwd'])
    await expect(sftp.read(where), where).rejects.toMatchObject({ code: 2 })
  for (const where of ['/wp-content/way/passwd', '/wp-content/database/.ht.sqlite'])
    await expect(sftp.read(where), where).rejects.toMatchObject({ code: 3 })
  await expect(sftp.symlink('/etc/passwd', '/own')).rejects.toMatchObject({ code: 8 })
  await expect(sftp.rmdir('/wp-admin')).rejects.toMatchObject({ code: 3 })
  await expect(sftp.read('/a\0b')).rejects.toThrow()
})

test('a line that breaks leaves the former file', async () => {
  const where = '/wp-content/shop.css'
  const client = await connect()
  const sftp = await sessionOf(client)
  const acts = actsOf(sftp)
  await acts.write(where, 'the former')
  const handle = await acts.open(where, 'w')
  const half = Buffer.alloc(700_000, 'x')
  await ask((done) => sftp.write(handle, half, 0, half.length, 0, done))
  client.destroy()
  const later = await session()
  expect(String(await later.read(where))).toBe('the former')
  expect(await later.names('/wp-content')).toEqual(expect.not.arrayContaining([/portal-upload/]))
  await expect(later.open(where, 'a')).rejects.toMatchObject({ code: 8 })
  await expect(later.open(where, 'r+')).rejects.toMatchObject({ code: 8 })
  await expect(later.open(where, 'wx')).rejects.toThrow('already')
})

test('a client that has nothing more to ask is let go', async () => {
  const sftp = await sessionOf(await connect())
  const closed = new Promise<void>((resolve) => sftp.on('close', () => resolve()))
  // As OpenSSH does: it ends its requests, and then waits for the channel to be closed.
  const { _protocol: protocol, outgoing } = sftp as unknown as {
    _protocol: { channelEOF(channel: number): void }
    outgoing: { id: number }
  }
  protocol.channelEOF(outgoing.id)
  await closed
})

test('no shell, no command, no way to anywhere else', async () => {
  const client = await connect()
  const { PORT } = portal.config
  const asked = [
    ask((done) => client.shell((error) => done(error))),
    ask((done) => client.exec('id', (error) => done(error))),
    ask((done) => client.subsys('netconf', (error) => done(error))),
    ask((done) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', PORT, (error) => done(error))),
    ask((done) => client.forwardIn('127.0.0.1', 0, (error) => done(error))),
  ]
  for (const answer of await Promise.allSettled(asked)) expect(answer.status).toBe('rejected')
})

test('keys are judged when they are added', async () => {
  const fieldOf = async (key: string) => {
    const { status, body } = await addKey(key)
    expect(status).toBe(422)
    return (body as unknown as { error: { fields: { key: string } } }).error.fields.key
  }
  expect(await fieldOf(mine.public)).toBe('This server has this key already.')
  expect(await fieldOf(makeSshKey().private)).toContain('private key')
  expect(await fieldOf('hello')).toContain('not a public key')
  const other = await portal.customer()
  expect((await api('GET', '', undefined, other.token)).status).toBe(404)
  const keys: string[] = []
  for (let count = 1; count < 20; count++) {
    const { status, body } = await addKey(makeSshKey().public, `key ${count}`)
    expect(status).toBe(201)
    keys.push(body.result.id)
  }
  expect(await fieldOf(makeSshKey().public)).toContain('20 keys')
  expect((await api('DELETE', `/keys/${keys[0]}`, undefined, other.token)).status).toBe(404)
  for (const key of keys) expect((await api('DELETE', `/keys/${key}`)).status).toBe(200)
  expect((await api('DELETE', `/keys/${keys[0]}`)).status).toBe(404)
})

test('a key opens its server only, and a suspended one is read and not changed', async () => {
  const second = await orderServer(portal, owner)
  await expect(connect(second.name)).rejects.toThrow()
  await expect(connect('nobody')).rejects.toThrow()
  await expect(connect(server.name, makeSshKey().private)).rejects.toThrow()
  const word = { privateKey: undefined, password: 'Mat-khau-9!' }
  await expect(connect(server.name, undefined, word as object)).rejects.toThrow()
  const sftp = await session()
  await sftp.write('/wp-content/here.txt', 'here')
  const suspend = (status: string) =>
    portal.app.db.updateTable('site').set({ status }).where('id', '=', server.id).execute()
  await suspend('suspended')
  try {
    const later = await session()
    expect(String(await later.read('/wp-content/here.txt'))).toBe('here')
    await expect(later.write('/wp-content/here.txt', 'x')).rejects.toMatchObject({ code: 3 })
    await expect(later.unlink('/wp-content/here.txt')).rejects.toMatchObject({ code: 3 })
  } finally {
    await suspend('running')
  }
})

test('nothing is written while the server is updated, or its owner is blocked', async () => {
  const { db } = portal.app
  const sftp = await session()
  await sftp.write('/wp-content/here.txt', 'here')
  const at = new Date()
  const update = { id: randomUUID(), site_id: server.id, packages: '[]', created_at: at }
  await db
    .insertInto('site_update')
    .values({ ...update, cause: 'owner', state: 'checking' })
    .execute()
  await expect(sftp.write('/wp-content/here.txt', 'lost')).rejects.toThrow('being updated')
  const piece = { path: 'x.txt', upload: randomUUID(), offset: 0, data: '', total: 0 }
  const put = await portal.call('PUT', `/api/wp/${server.id}/files/content`, {
    token: owner.token,
    body: { ...piece, replaces: true },
  })
  expect(put.status).toBe(409)
  expect(String(await sftp.read('/wp-content/here.txt'))).toBe('here')
  await db.deleteFrom('site_update').where('id', '=', update.id).execute()
  await sftp.write('/wp-content/here.txt', 'again')
  const block = (blocked: Date | null) =>
    db.updateTable('customer').set({ blocked_at: blocked }).where('id', '=', owner.id).execute()
  await block(at)
  try {
    await expect(connect()).rejects.toThrow()
    await eventually('the open session is refused', () =>
      sftp.names('/').then(
        () => false,
        () => true,
      ),
    )
  } finally {
    await block(null)
  }
})

test('what is written counts for the disk, in however many files', async () => {
  const { wordpress: driver } = portal.drivers
  const used = (await driver.state(server.id)).diskUsedMb
  const disk = (disk_mb: number) =>
    portal.app.db.updateTable('site').set({ disk_mb }).where('id', '=', server.id).execute()
  await disk(used + 4)
  try {
    const sftp = await session()
    const written: number[] = []
    const two = Buffer.alloc(2 * 1_048_576)
    for (let n = 0; n < 4; n++)
      await sftp.write(`/wp-content/large-${n}`, two).then(
        () => written.push(n),
        (error: Error) => expect(error.message).toContain('full'),
      )
    expect(written.length).toBeGreaterThan(0)
    expect(written.length).toBeLessThan(3)
  } finally {
    await disk(10_240)
  }
})

test('lines that say nothing are counted, and nothing is compressed', async () => {
  const compress = ['zlib@openssh.com' as const]
  await expect(connect(undefined, undefined, { algorithms: { compress } })).rejects.toThrow()
  const silent = Array.from({ length: 20 }, () => net.connect(port, '127.0.0.1'))
  const gone = silent.map((one) => new Promise<void>((resolve) => one.on('close', () => resolve())))
  try {
    await Promise.all(silent.map((one) => new Promise((resolve) => one.once('connect', resolve))))
    await expect(connect()).rejects.toThrow()
  } finally {
    for (const one of silent) one.destroy()
  }
  await Promise.all(gone)
  await eventually('a line is free again', () =>
    connect().then(
      () => true,
      () => false,
    ),
  )
})

test('a key that is taken away ends what it has opened', async () => {
  const lent = makeSshKey()
  const { body } = await addKey(lent.public, 'lent')
  const client = await connect(server.name, lent.private)
  const closed = new Promise<void>((resolve) => client.on('close', () => resolve()))
  const sftp = actsOf(await sessionOf(client))
  expect(await sftp.names('/')).toContain('index.php')
  await api('DELETE', `/keys/${body.result.id}`)
  await expect(connect(server.name, lent.private)).rejects.toThrow()
  await eventually('the open session is refused', () =>
    sftp.names('/').then(
      () => false,
      (error: Error) => error.message.includes('no more'),
    ),
  )
  await closed
})

test('who offers keys without end is heard no more', async () => {
  const tries = async () => {
    const key = makeSshKey()
    await connect(server.name, key.private).catch(() => undefined)
  }
  for (let round = 0; round < 25; round++)
    await Promise.all(Array.from({ length: 4 }, () => tries()))
  await expect(connect()).rejects.toThrow()
})
