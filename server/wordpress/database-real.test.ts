/** The database of a server with WordPress on PHP: opened, browsed, changed, and closed. */
import fs from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { judgeStatement, type Cell, type Rows } from '../../contract/wordpress-database.ts'
import { visitKept } from '../../test/kept-pages.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { usualToolTimes } from './drivers/machine/tools.ts'

describe('a statement', () => {
  test.each([
    ['select * from a', 'reads'],
    ['  (SELECT 1) union (select 2)', 'reads'],
    ['show tables;', 'reads'],
    ["select ';' from a -- ; drop table a", 'reads'],
    ['select `a;b` from `c``d`', 'reads'],
    ["select 'it''s', \"a\\\"b\" from a", 'reads'],
    ['update a set b = 1', 'writes'],
    ['drop table a', 'writes'],
    ['select 1; drop table a', 'several'],
    ['select 1 /* ; */ ; delete from a', 'several'],
    ["select 'open", 'open'],
    ['select 1 /* open', 'open'],
    ['select /*! 1 into outfile "x" */', 'open'],
    ['', 'empty'],
    ['-- nothing', 'empty'],
    ['select 1 into outfile "/tmp/x"', 'other'],
    ["select load_file('/etc/passwd')", 'other'],
    ['select * from a for update', 'other'],
    ['set global x = 1', 'other'],
    ['attach database "x" as y', 'other'],
    ['pragma table_info(a)', 'other'],
    ['explain analyze delete from a', 'other'],
    ['grant all on *.* to a', 'other'],
    ['load data infile "x" into table a', 'other'],
    ['with a as (select 1) delete from b', 'other'],
    ['select 1\0', 'other'],
  ])('%j %s', (sql, kind) => expect(judgeStatement(sql).kind).toBe(kind))

  test('that reads is bounded, also where a string or an inner one has a limit', () => {
    const bounded = (sql: string): boolean => {
      const judged = judgeStatement(sql)
      return 'sql' in judged && judged.sql.endsWith('LIMIT 1001')
    }
    expect(bounded('select * from a')).toBe(true)
    expect(bounded("select 'limit 5' from a -- limit 3")).toBe(true)
    expect(bounded('select * from (select 1 limit 5) a')).toBe(true)
    expect(bounded('select * from a limit 5')).toBe(false)
  })

  test('whatever stands in strings is no second statement', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const quoted = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '')
        expect(judgeStatement(`select '${quoted}' from a`).kind).toBe('reads')
        expect(judgeStatement(`select '${quoted}'; drop table a`).kind).toBe('several')
      }),
    )
  })
})

describe('a database', () => {
  let portal: TestPortal
  let owner: TestCustomer
  let id = ''
  let name = ''
  /** Shortened where a query is to take too long. */
  const toolTimes = { ...usualToolTimes }
  beforeAll(async () => {
    portal = await openTestPortal({ wordpress: 'real', toolTimes })
    owner = await portal.customer()
    await portal.topUp(owner, 5_000_000)
    ;({ id, name } = await orderServer(portal, owner))
  }, 180_000)
  afterAll(() => portal.close())
  beforeEach(() => portal.app.db.deleteFrom('rate_limit').execute())

  const call = <T>(method: string, where: string, body?: unknown, token = owner.token) =>
    portal.call<T>(method, `/api/wp/${id}/database${where}`, { token, body })
  const open = async (token = owner.token): Promise<void> => {
    const given = await call<{ ticket: string }>(
      'POST',
      '/ticket',
      { password: owner.password },
      token,
    )
    const { ticket } = given.body.result
    expect((await call('POST', '/session', { ticket }, token)).status).toBe(200)
  }
  const refused = (field: string, says = /./) => ({
    status: 422,
    body: { error: { fields: { [field]: expect.stringMatching(says) as string } } },
  })
  const statement = (sql: string, allowsChanges = false) =>
    call<Rows & { changed: number | null }>('POST', '/statement', { sql, allowsChanges })
  const texts = ({ rows }: Rows): (string | null)[][] =>
    rows.map((row) => row.map((cell: Cell) => cell && cell.value))
  const front = () => visitKept(portal, `${name}.localhost`)

  test('is opened by the password, once for a ticket, and for one sign-in', async () => {
    expect(await call('GET', '/tables')).toMatchObject({
      status: 422,
      body: { error: { code: 'link_expired' } },
    })
    expect(await call('POST', '/ticket', { password: 'wrong' })).toMatchObject(refused('password'))
    const given = await call<{ ticket: string }>('POST', '/ticket', { password: owner.password })
    const { ticket } = given.body.result
    const { token: second } = await portal.signIn(owner)
    expect((await call('POST', '/session', { ticket }, second)).status).toBe(422)
    const entered = await call<{ until: string }>('POST', '/session', { ticket })
    const minutes = (Date.parse(entered.body.result.until) - Date.now()) / 60_000
    expect(minutes).toBeGreaterThan(29)
    expect(minutes).toBeLessThan(31)
    expect((await call('POST', '/session', { ticket })).status).toBe(422)
    expect((await call('GET', '/tables')).status).toBe(200)
    expect((await call('GET', '/tables', undefined, second)).status).toBe(422)
    const other = await portal.customer()
    expect((await call('GET', '/tables', undefined, other.token)).status).toBe(404)
    await call('DELETE', '/session')
    expect((await call('GET', '/tables')).status).toBe(422)
    await open()
  })

  test('shows tables, columns, and rows that are sorted, filtered and counted', async () => {
    const tables = (await call<{ name: string; bytes: number }[]>('GET', '/tables')).body.result
    expect(tables.find(({ name }) => name === 'wp_options')?.bytes).toBeGreaterThan(10_000)
    const described = (
      await call<{ columns: { name: string; isKey: boolean }[] }>('GET', '/columns?table=wp_posts')
    ).body.result
    expect(described.columns.find(({ isKey }) => isKey)?.name).toBe('ID')
    const list = async (query: string) =>
      (await call<Rows & { total: number }>('GET', `/rows?table=wp_options&${query}`)).body.result
    const first = await list('')
    expect(first.rows).toHaveLength(50)
    const next = await list('offset=50')
    expect(texts(next).flat()).not.toContain(texts(first)[0]?.[1])
    const site = await list('column=option_name&how=contains&value=BLOGNAM')
    expect(texts(site).map(([, name]) => name)).toEqual(['blogname'])
    const last = await list('sort=option_name&descends=1')
    expect(String(texts(last)[0]?.[1]) > String(texts(last)[9]?.[1])).toBe(true)
    expect(await call('GET', '/rows?table=nowhere')).toMatchObject(refused('table'))
  })

  test('passwords and keys are masked until they are asked for', async () => {
    const masked = await call<Rows>('GET', '/rows?table=wp_users')
    expect(masked.text).not.toContain('$wp$')
    expect((await call('GET', '/rows?table=wp_users&reveals=1')).text).toContain('$wp$')
    const tokens = await call<Rows>(
      'GET',
      '/rows?table=wp_usermeta&column=meta_key&value=session_tokens',
    )
    expect(tokens.text).not.toContain('expiration')
  })

  test('a value in full, bytes as such, and changes that visitors see at once', async () => {
    await statement(
      `insert into wp_options (option_name, option_value) values ('long', '${'dài '.repeat(300)}')`,
      true,
    )
    const row = await call<Rows & { total: number }>(
      'GET',
      '/rows?table=wp_options&column=option_name&value=long',
    )
    const [shown] = row.body.result.rows
    expect(shown?.[2]?.value.length).toBeLessThan(201)
    expect(shown?.[2]?.bytes).toBe(1_500)
    const key = { option_id: shown?.[0]?.value ?? '' }
    const whole = await call<Rows>('POST', '/row', { table: 'wp_options', key, reveals: false })
    expect(whole.body.result.rows[0]?.[2]?.value).toHaveLength(1_200)

    await statement('create table odd (id int primary key, data blob)', true)
    const bytes = { id: { kind: 'text', value: '1' }, data: { kind: 'hex', value: 'fffe00' } }
    expect(
      (await call('PUT', '/row', { table: 'odd', change: 'insert', values: bytes })).text,
    ).toContain('"inserted"')
    const odd = await call<Rows>('GET', '/rows?table=odd')
    expect(odd.body.result.rows[0]?.[1]).toEqual({ kind: 'hex', value: 'fffe00', bytes: 3 })
    await statement('drop table odd', true)

    await eventually('a kept page', async () => (await front()).word === 'HIT')
    const title = { table: 'wp_options', change: 'update' as const }
    const where = '/rows?table=wp_options&column=option_name&value=blogname'
    const found = await call<Rows>('GET', where)
    const changed = await call<{ former: Record<string, Cell> }>('PUT', '/row', {
      ...title,
      key: { option_id: found.body.result.rows[0]?.[0]?.value },
      values: { option_value: { kind: 'text', value: 'Tên mới' } },
    })
    expect(changed.body.result.former['option_value']?.kind).toBe('text')
    expect((await front()).text).toContain('Tên mới')
  })

  test('statements read, and write only when they may', async () => {
    const read = await statement(
      "select option_value from wp_options where option_name = 'blogname'",
    )
    expect(texts(read.body.result)).toEqual([['Tên mới']])
    expect((await statement('show tables')).status).toBe(200)
    expect((await statement('describe wp_posts')).status).toBe(200)
    const write = "update wp_options set option_value = 'x' where option_name = 'long'"
    expect(await statement(write)).toMatchObject(refused('sql', /Allow changes/))
    expect((await statement(write, true)).body.result.changed).toBe(1)
    expect(await statement('select 1; select 2', true)).toMatchObject(refused('sql', /semicolon/))
    expect(await statement("attach database '/etc/passwd' as a", true)).toMatchObject(
      refused('sql'),
    )
    expect(await statement('select nothing from nowhere')).toMatchObject(refused('sql', /nowhere/))
    const many = await statement('select a.option_id from wp_options a, wp_options b')
    expect(many.body.result.rows).toHaveLength(1_000)
    expect(many.body.result.isCut).toBe(true)
  })

  test('one that takes too long is ended', async () => {
    const tables = 'wp_options a, wp_options b, wp_options c, wp_options d, wp_options e'
    toolTimes.databaseMs = 2_000
    const slow = await statement(
      `select count(*) from ${tables} where a.option_id + 1 > b.option_id`,
    )
    expect(slow).toMatchObject(refused('sql', /10 seconds/))
    toolTimes.databaseMs = usualToolTimes.databaseMs
    expect((await statement('select 1 as one')).status).toBe(200)
  }, 60_000)

  test('a table as CSV, in which nothing is a formula', async () => {
    await statement(
      `insert into wp_options (option_name, option_value) values ('=1+1', '@SUM(A1)\nb, "drei"')`,
      true,
    )
    const { token } = owner
    const answer = await portal.call('GET', `/api/wp/${id}/database/export?table=wp_options`, {
      token,
    })
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('option_id,option_name,option_value')
    expect(answer.text).toContain(`"'=1+1","'@SUM(A1)\nb, ""drei"""`)
    const all = await statement('select count(*) as n from wp_options')
    expect(Number(texts(all.body.result)[0]?.[0])).toBeLessThan(answer.text.split('\r\n').length)
  })

  test('a site whose own code answers is not believed', async () => {
    const content = path.join(portal.dataDir, 'sites', id, 'wordpress', 'wp-content')
    fs.writeFileSync(
      path.join(content, 'object-cache.php'),
      `<?php if ( isset( $GLOBALS['portal_step'] ) ) { while ( ob_get_level() ) ob_end_clean();
$mark = $GLOBALS['portal_step']['mark'];
echo "\\n", $mark, "\\n", '{"ok":true,"messages":[],"data":{"tables":"all"}}', "\\n",
	$mark, "\\n"; flush(); exit; }`,
    )
    expect(await call('GET', '/tables')).toMatchObject(refused('table'))
    fs.writeFileSync(path.join(content, 'object-cache.php'), '<?php')
    const again = await call('GET', '/tables')
    expect(again.status, again.text).toBe(200)
  })

  test('after half an hour, and on a server that is suspended, it is closed', async () => {
    await portal.app.db
      .updateTable('site_database_access')
      .set({ open_until: new Date(Date.now() - 1_000) })
      .execute()
    expect(await call('GET', '/tables')).toMatchObject({
      body: { error: { code: 'link_expired' } },
    })
    await open()
    const set = (status: string) =>
      portal.app.db.updateTable('site').set({ status }).where('id', '=', id).execute()
    await set('suspended')
    expect((await call('GET', '/tables')).status).toBe(409)
    await set('running')
  })
})
