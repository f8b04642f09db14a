/** An owner acts on the files of his server, and visitors see the result. */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pieceBytes, type SiteFile } from '../../contract/wordpress-files.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

let portal: TestPortal
let owner: TestCustomer
let id: string
beforeAll(async () => {
  portal = await openTestPortal()
  owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  }
  id = (await portal.call<{ id: string }>('POST', '/api/wp', { token: owner.token, body: order }))
    .body.result.id
  await eventually(
    'the server runs',
    async () =>
      (await portal.call<{ status: string }>('GET', `/api/wp/${id}`, { token: owner.token })).body
        .result.status === 'running',
  )
})
afterAll(() => portal.close())

const call = <T>(method: string, where: string, body?: unknown, token = owner.token) =>
  portal.call<T>(method, `/api/wp/${id}/files${where}`, { token, body })
const listed = async (where: string): Promise<SiteFile[]> =>
  (await call<{ entries: SiteFile[] }>('GET', `?path=${encodeURIComponent(where)}`)).body.result
    .entries
const upload = async (where: string, content: Buffer, replaces = false) => {
  const name = randomUUID()
  let last
  for (let offset = 0; offset === 0 || offset < content.length; offset += pieceBytes)
    last = await call<{ bytes: number; done: boolean }>('PUT', '/content', {
      path: where,
      upload: name,
      offset,
      data: content.subarray(offset, offset + pieceBytes).toString('base64'),
      total: content.length,
      replaces,
    })
  return last!
}
const download = async (where: string): Promise<Buffer> => {
  const pieces: Buffer[] = []
  for (let read = 0; ;) {
    const { body } = await call<{ bytes: number; data: string }>(
      'GET',
      `/content?path=${encodeURIComponent(where)}&offset=${read}`,
    )
    pieces.push(Buffer.from(body.result.data, 'base64'))
    read += pieces.at(-1)!.length
    if (read >= body.result.bytes) return Buffer.concat(pieces)
  }
}
const refused = (field: string) => ({
  status: 422,
  body: { error: { fields: { [field]: expect.any(String) as string } } },
})

test('folders come first, the database’s files not at all', async () => {
  const entries = await listed('')
  const kinds = entries.map(({ kind }) => kind)
  expect(kinds.lastIndexOf('folder')).toBeLessThan(kinds.indexOf('file'))
  expect(entries.map(({ name }) => name)).toEqual(expect.arrayContaining(['wp-config.php']))
  expect((await listed('wp-content')).map(({ name }) => name)).not.toContain('database')
})

test('a file goes up in pieces and comes down as it was', async () => {
  expect((await call('POST', '/folder', { path: 'tải lên' })).status).toBe(201)
  const content = Buffer.alloc(pieceBytes * 2 + 77, 'đồng ')
  expect((await upload('tải lên/lớn.bin', content)).body.result).toEqual({
    bytes: content.length,
    done: true,
  })
  expect((await download('tải lên/lớn.bin')).equals(content)).toBe(true)
  expect(await upload('tải lên/lớn.bin', Buffer.from('x'))).toMatchObject(refused('path'))
  expect((await upload('tải lên/lớn.bin', Buffer.from(''), true)).body.result.bytes).toBe(0)
})

test('names are changed, folders deleted with all that is in them', async () => {
  const move = { path: 'tải lên/lớn.bin', to: 'tải lên/nhỏ.bin' }
  expect((await call('POST', '/move', move)).status).toBe(200)
  expect((await listed('tải lên')).map(({ name }) => name)).toEqual(['nhỏ.bin'])
  expect(await call('POST', '/move', { path: 'tải lên', to: 'wp-includes' })).toMatchObject(
    refused('to'),
  )
  expect((await call('DELETE', `?path=${encodeURIComponent('tải lên')}`)).status).toBe(200)
  expect((await call('DELETE', `?path=${encodeURIComponent('tải lên')}`)).status).toBe(404)
})

test('what the site’s own programs have put there leads nowhere else', async () => {
  const root = path.join(portal.dataDir, 'sites', id, 'wordpress')
  await fs.symlink(portal.dataDir, path.join(root, 'way'))
  expect(await call('GET', '?path=way')).toMatchObject(refused('path'))
  expect(await call('GET', '/content?path=way/secret')).toMatchObject(refused('path'))
  expect((await listed('')).find(({ name }) => name === 'way')).toMatchObject({ kind: 'link' })
  for (const out of ['../../../etc/passwd', 'wp-content/database/.ht.sqlite', 'a/../../b'])
    expect((await call('GET', `/content?path=${encodeURIComponent(out)}`)).status).toBe(422)
})

test('a file that the disk has no room for is refused before its first piece', async () => {
  await portal.app.db.updateTable('site').set({ disk_mb: 60 }).where('id', '=', id).execute()
  const first = { path: 'huge.bin', upload: randomUUID(), offset: 0, data: 'AAAA', replaces: false }
  expect(await call('PUT', '/content', { ...first, total: 100_000_000 })).toMatchObject(
    refused('path'),
  )
  expect(await call('PUT', '/content', { ...first, total: 2 })).toMatchObject(refused('offset'))
  expect((await listed('')).map(({ name }) => name)).not.toContain('huge.bin')
  await portal.app.db.updateTable('site').set({ disk_mb: 10_240 }).where('id', '=', id).execute()
})

test('each piece finds room, and is of a file as long as the first one said', async () => {
  const giveDisk = (disk_mb: number) =>
    portal.app.db.updateTable('site').set({ disk_mb }).where('id', '=', id).execute()
  const data = Buffer.alloc(pieceBytes).toString('base64')
  const upload = randomUUID()
  const piece = (offset: number, total: number) =>
    call('PUT', '/content', { path: 'grown.bin', upload, offset, data, total, replaces: false })
  expect((await piece(0, pieceBytes * 3)).status).toBe(200)
  for (const total of [pieceBytes * 2, pieceBytes * 4])
    expect(await piece(pieceBytes, total)).toMatchObject(refused('offset'))
  // An upload that began with little cannot continue without limit.
  await giveDisk(1)
  expect(await piece(pieceBytes, pieceBytes * 3)).toMatchObject(refused('path'))
  await giveDisk(10_240)
  expect((await piece(pieceBytes, pieceBytes * 3)).status).toBe(200)
  expect((await piece(pieceBytes * 2, pieceBytes * 3)).body.result).toMatchObject({ done: true })
})

test('they are nobody else’s', async () => {
  const { token } = await portal.customer()
  expect((await call('GET', '?path=', undefined, token)).status).toBe(404)
  expect((await call('DELETE', '?path=index.php', undefined, token)).status).toBe(404)
})
