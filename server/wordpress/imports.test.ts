/**
 * A site of one customer's server, exported and moved into another customer's: uploaded in pieces,
 * compared with the original, switched to, and undone; told through the API.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Import } from '../../contract/wordpress-import.ts'
import { pieceBytes } from '../../contract/wordpress-import.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import { zipOf } from '../../test/packages.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { hours } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'

const clock = manualClock(new Date())
let portal: TestPortal
/** The original website of the story. */
let original: Server
let originalPort = 0
let isOriginalUp = true
let isNodeAway = false

interface Place {
  readonly owner: TestCustomer
  readonly id: string
  readonly domain: string
}
let from: Place
let into: Place
let archive: Buffer

async function server(user: string): Promise<Place> {
  const owner = await portal.customer()
  await portal.topUp(owner, 2_000_000)
  return { owner, ...(await orderServer(portal, owner, { user })) }
}
const call = <T = Import>(
  method: string,
  target: string,
  body?: unknown,
  at: Place = into,
): Promise<{ status: number; text: string; body: { result: T; error?: { code: string } } }> =>
  portal.call<T>(method, `/api/wp/${at.id}/import${target}`, {
    token: at.owner.token,
    body,
  }) as never
const current = async (): Promise<Import> => (await call('GET', '')).body.result
const until = (state: Import['state']): Promise<Import> =>
  eventually(
    `the import ${state}`,
    async () => {
      const now = await current()
      if (now.state === 'failed' && state !== 'failed') throw new Error(JSON.stringify(now.problem))
      return now.state === state && now
    },
    120,
  )
const put = async (
  target: string,
  bytes: Uint8Array,
  more: Record<string, string> = {},
): Promise<{ status: number; offset: number | undefined; code: string | undefined }> => {
  const answer = await fetch(`${portal.url}/api/wp/${into.id}/import${target}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${into.owner.token}`,
      'content-type': 'application/octet-stream',
      ...more,
    },
    body: new Uint8Array(bytes),
  })
  const body = (await answer.json()) as {
    result?: { offset: number }
    error?: { code: string }
  }
  return { status: answer.status, offset: body.result?.offset, code: body.error?.code }
}
const upload = async (importId: string, file: number, bytes: Buffer): Promise<void> => {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes)
    const taken = await put(`/${importId}/files/${file}?offset=${at}`, piece)
    expect(taken).toMatchObject({ status: 200, offset: at + piece.length })
  }
}
const visit = (at: Place, target = '/'): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    http
      .get(
        {
          host: '127.0.0.1',
          port: portal.config.SITES_PORT,
          path: target,
          headers: { host: at.domain },
          agent: false,
        },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8')
          answer.on('data', (chunk: string) => (text += chunk))
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        },
      )
      .on('error', reject)
  })
const folderOf = (at: Place): string => path.join(portal.dataDir, 'sites', at.id)
const sqliteOf = (at: Place): DatabaseSync =>
  new DatabaseSync(path.join(folderOf(at), 'wordpress/wp-content/database/.ht.sqlite'))
const nothingLeft = async (): Promise<void> => {
  await jobsIdle(portal.app.db)
  const pieces = path.join(portal.dataDir, 'imports', 'pieces')
  expect(existsSync(pieces) ? readdirSync(pieces) : []).toEqual([])
  expect(existsSync(path.join(folderOf(into), 'import'))).toBe(false)
}

beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    mayFetch: (_address, port) => port === originalPort,
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: {
        ...drivers.wordpress,
        get capabilities() {
          return drivers.wordpress.capabilities
        },
        async dropImport(id) {
          if (isNodeAway) throw new DriverFailure('unavailable', 'the node is away')
          await drivers.wordpress.dropImport(id)
        },
      },
    }),
  })
  ;[from, into] = [await server('chu.cu'), await server('chu.moi')]
  // The original keeps running elsewhere: it shows what the first server shows.
  original = createServer((request, response) => {
    if (!isOriginalUp) return void request.destroy()
    void visit(from, request.url).then(({ status, text }) => {
      response.writeHead(status, { 'content-type': 'text/html' })
      response.end(text)
    })
  })
  await new Promise<void>((done) => original.listen(0, '127.0.0.1', done))
  originalPort = (original.address() as AddressInfo).port
  const database = sqliteOf(from)
  database
    .prepare('insert into wp_posts (post_title, post_content, post_date) values (?, ?, ?)')
    .run('Đường về nhà 🌧', `<a href="http://${from.domain}/a">a</a>`, '2026-01-01')
  database.prepare('insert into wp_options values (?, ?)').run('home', `http://${from.domain}`)
  database.close()
  const { token } = from.owner
  await portal.call('POST', `/api/wp/${from.id}/backups`, { token })
  const backupId = await eventually(
    'the backup',
    async () => {
      const [one] = (
        await portal.call<{ id: string; state: string }[]>('GET', `/api/wp/${from.id}/backups`, {
          token,
        })
      ).body.result
      return one?.state === 'proven' && one.id
    },
    90,
  )
  const link = (
    await portal.call<{ url: string }>('POST', `/api/wp/${from.id}/backups/${backupId}/link`, {
      token,
    })
  ).body.result.url
  archive = Buffer.from(await (await fetch(link)).arrayBuffer())
}, 200_000)
afterAll(async () => {
  original.close()
  await portal.close()
})

test('an upload goes on where it was cut off, and nobody else adds to it', async () => {
  expect(await current()).toBeNull()
  const files = [{ name: 'away.tar.gz', bytes: archive.length }]
  const tooLarge = await call('POST', '', { files: [{ name: 'x', bytes: 11 * 2 ** 30 }] })
  expect([tooLarge.status, tooLarge.body.error?.code]).toEqual([422, 'invalid_input'])
  const noAddress = await call('POST', '', { files, origin: 'not an address' })
  expect(noAddress.status).toBe(422)
  const begun = await call('POST', '', { files, origin: `http://127.0.0.1:${originalPort}/` })
  expect([begun.status, begun.body.result.state]).toEqual([201, 'uploading'])
  const { id } = begun.body.result
  expect((await call('POST', '', { files })).status).toBe(409)

  const half = Math.floor(archive.length / 2)
  expect(await put(`/${id}/files/0?offset=0`, archive.subarray(0, half))).toMatchObject({
    status: 200,
    offset: half,
  })
  // A restarted portal has the upload as well.
  await portal.reopen()
  // Refused: a repeated piece, a piece after a gap, too many bytes, a page of another site, JSON,
  // an unknown file.
  const more = archive.subarray(half)
  expect((await put(`/${id}/files/0?offset=0`, archive)).code).toBe('conflict')
  expect((await put(`/${id}/files/0?offset=${half + 1}`, more)).code).toBe('conflict')
  expect((await put(`/${id}/files/0?offset=${half}`, archive)).code).toBe('payload_too_large')
  const crossSite = { 'sec-fetch-site': 'cross-site' }
  expect((await put(`/${id}/files/0?offset=${half}`, more, crossSite)).code).toBe('forbidden')
  const json = { 'content-type': 'application/json' }
  expect((await put(`/${id}/files/0?offset=${half}`, Buffer.from('{}'), json)).status).toBe(415)
  expect((await put(`/${id}/files/7?offset=0`, more)).code).toBe('not_found')
  // Another customer finds nothing.
  const stranger = await portal.call('GET', `/api/wp/${into.id}/import`, {
    token: from.owner.token,
  })
  expect(stranger.status).toBe(404)
  // An incomplete upload is not built.
  expect((await call('POST', `/${id}/build`)).status).toBe(409)
  // Each piece is a row, so an upload may not have this many.
  const tiny = Array.from({ length: 200 }, (_one, index) => ({
    import_id: id,
    file: 0,
    at: BigInt(-index - 1),
    bytes: 0,
    name: 'none',
  }))
  const { db } = portal.app
  await db.insertInto('site_import_piece').values(tiny).execute()
  expect((await put(`/${id}/files/0?offset=${half}`, more)).code).toBe('conflict')
  await db.deleteFrom('site_import_piece').where('name', '=', 'none').execute()

  // A connection that breaks in the middle of a piece leaves nothing of it.
  await new Promise<void>((done) => {
    const cut = http.request(
      `${portal.url}/api/wp/${into.id}/import/${id}/files/0?offset=${half}`,
      {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${into.owner.token}`,
          'content-type': 'application/octet-stream',
          'content-length': more.length,
        },
      },
    )
    cut.on('error', () => {})
    cut.on('close', done)
    cut.write(more.subarray(0, 10), () => cut.destroy())
  })
  await eventually(
    'one whole piece alone',
    async () => readdirSync(path.join(portal.dataDir, 'imports', 'pieces', id)).length === 1,
  )

  // After a reload the page asks how far the upload is. Of two that continue at once, one succeeds.
  const told = await call<{ offset: number }>('GET', `/${id}/files/0`)
  expect(told.body.result.offset).toBe(half)
  expect((await current()).files).toEqual([{ ...files[0], received: half }])
  const both = await Promise.all([
    put(`/${id}/files/0?offset=${half}`, more),
    put(`/${id}/files/0?offset=${half}`, more),
  ])
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
})

test('the copy is compared page by page, and the server goes on meanwhile', async () => {
  const before = await eventually('the server again', async () => {
    const page = await visit(into)
    return page.status === 200 && page
  })
  const { id } = await current()
  const built = await call('POST', `/${id}/build`)
  expect(built.body.result.state).toBe('building')
  expect((await call('POST', `/${id}/build`)).status).toBe(200)
  const ready = await until('ready')
  expect(ready).toMatchObject({
    found: { maker: 'portal', tables: 5 },
    home: `http://${from.domain}`,
    admins: ['chu.cu'],
    problem: null,
  })
  // The front pages have the same words; a server's title is its name.
  expect(ready.pages?.[0]).toMatchObject({
    path: '/',
    original: { status: 200 },
    copy: { status: 200 },
    verdict: 'same',
    likeness: 100,
  })
  expect(await visit(into)).toEqual(before)
})

test('switching over backs the server up first, and can be undone for a day', async () => {
  const { id } = await current()
  const post = sqliteOf(into)
  post.prepare("insert into wp_posts (post_title) values ('Chỉ có ở đây')").run()
  post.close()
  // An update's roll-back would restore what the switch replaces.
  const { db } = portal.app
  const updateId = randomUUID()
  await db
    .insertInto('site_update')
    .values({
      id: updateId,
      site_id: into.id,
      cause: 'owner',
      state: 'checking',
      packages: '[]',
      created_at: clock.now(),
    })
    .execute()
  expect((await call('POST', `/${id}/switch`)).body.error?.code).toBe('update_in_progress')
  await db.deleteFrom('site_update').where('id', '=', updateId).execute()
  const switching = await call('POST', `/${id}/switch`)
  expect(switching.body.result.state).toBe('switching')
  // Neither a backup nor a discard is accepted meanwhile.
  const { token } = into.owner
  const other = await portal.call('POST', `/api/wp/${into.id}/backups`, { token })
  expect(other.status).toBe(409)
  expect((await call('DELETE', `/${id}`)).status).toBe(409)
  const done = await until('done')
  expect(done.undoUntil).not.toBeNull()
  await eventually('the new front page', async () =>
    (await visit(into)).text.includes('Đường về nhà 🌧'),
  )
  expect((await visit(into)).text).not.toContain('Chỉ có ở đây')
  const database = sqliteOf(into)
  const stored = database.prepare('select post_content from wp_posts order by ID desc').get()
  const users = database.prepare('select user_login from wp_users').all()
  database.close()
  expect(stored).toEqual({ post_content: `<a href="http://${into.domain}/a">a</a>` })
  expect(users).toEqual([{ user_login: 'chu.cu' }])
  await nothingLeft()

  const undone = await call<{ id: string }>('POST', `/${id}/undo`)
  expect(undone.status, undone.text).toBe(200)
  expect((await current()).state).toBe('undone')
  expect((await call('POST', `/${id}/undo`)).status).toBe(409)
  await eventually(
    'the old front page',
    async () => (await visit(into)).text.includes('Chỉ có ở đây'),
    90,
  )
  await jobsIdle(portal.app.db)
})

/** Signs in again, because sessions end while the clock is moved. */
const signInAgain = async (): Promise<void> => {
  const { email, password } = into.owner
  const answer = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    { body: { email, password } },
  )
  into = { ...into, owner: { ...into.owner, token: answer.body.result.token.accessToken } }
}

const begin = async (bytes: Buffer, origin?: string): Promise<string> => {
  const files = [{ name: 'site.zip', bytes: bytes.length }]
  const { id } = (await call('POST', '', { files, origin })).body.result
  await upload(id, 0, bytes)
  expect((await call('POST', `/${id}/build`)).status).toBe(200)
  return id
}

test('a hostile package is refused with its reason, and the server is as it was', async () => {
  const before = await visit(into)
  await begin(zipOf([{ name: '../../../../etc/cron.d/x', content: 'x' }]))
  expect((await until('failed')).problem).toMatchObject({ code: 'leads_outside' })
  await nothingLeft()
  expect(await visit(into)).toEqual(before)
})

test('a portal that is started again goes on with the copy, and with the switch', async () => {
  const id = await begin(archive)
  await portal.reopen()
  expect((await until('ready')).admins).toEqual(['chu.cu'])
  expect((await call('POST', `/${id}/switch`)).status).toBe(200)
  await portal.reopen()
  const done = await until('done')
  await eventually('the new front page', async () =>
    (await visit(into)).text.includes('Đường về nhà 🌧'),
  )
  expect(done.undoUntil).not.toBeNull()
  await nothingLeft()
})

test('an original that is private or away is told, and keeps nobody from going on', async () => {
  // With the real rule, loopback at another port is not one of the test's originals.
  await begin(archive, `http://127.0.0.1:${portal.config.PORT}`)
  const refused = await until('ready')
  expect(refused.pages?.every(({ verdict }) => verdict === 'unknown')).toBe(true)
  expect(refused.pages?.[0]?.copy).toMatchObject({ status: 200 })
  expect((await call('DELETE', `/${refused.id}`)).status).toBe(200)
  await nothingLeft()
  isOriginalUp = false
  await begin(archive, `http://127.0.0.1:${originalPort}`)
  expect((await until('ready')).pages?.[0]?.verdict).toBe('unknown')
})

test('what nobody switches to is forgotten after a day', async () => {
  clock.advance(hours(25))
  await signInAgain()
  await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'expire-imports', {}))
  await eventually('the copy gone', async () => !existsSync(path.join(folderOf(into), 'import')))
  await nothingLeft()
  expect((await visit(into)).text).toContain('Đường về nhà 🌧')
  // The earlier switch is shown, which cannot be undone any more.
  const last = await current()
  expect(last.state).toBe('done')
  expect((await call('POST', `/${last.id}/undo`)).status).toBe(409)
})

test('while the node is away one job waits for it, and the upload is looked for once', async () => {
  isNodeAway = true
  const { db, jobs } = portal.app
  const id = await begin(archive, `http://127.0.0.1:${originalPort}`)
  expect((await call('DELETE', `/${id}`)).status).toBe(200)
  const waiting = async (): Promise<readonly { state: string }[]> =>
    (
      await sql<{ state: string }>`select state from pgboss.job where name = 'clean-import'
        and data ->> 'importId' = ${id} and state in ('created', 'retry', 'active')`.execute(db)
    ).rows
  await eventually('a try that failed', async () => (await waiting())[0]?.state === 'retry')
  for (let round = 0; round < 3; round++) {
    await transaction(db, (tx) => jobs.add(tx, 'expire-imports', {}))
    await eventually('the round', async () => {
      const { rows } = await sql`select from pgboss.job where name = 'expire-imports'
        and state in ('created', 'retry', 'active')`.execute(db)
      return rows.length === 0
    })
  }
  expect(await waiting()).toHaveLength(1)

  // Stands for what the store has of others: whoever lists it again finds it by this import's name.
  const folder = path.join(portal.dataDir, 'imports', 'pieces', id)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'mark'), '')
  isNodeAway = false
  await sql`update pgboss.job set start_after = now() where name = 'clean-import'
    and state in ('created', 'retry')`.execute(db)
  await eventually('the copy being cleaned away', async () => {
    const row = await db
      .selectFrom('site_import')
      .select('cleaned_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return row.cleaned_at !== null
  })
  expect(existsSync(path.join(folder, 'mark'))).toBe(true)
  rmSync(folder, { recursive: true })
  await nothingLeft()
})
