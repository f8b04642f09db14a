// The tests of the owner's tools, commands of the console, for every WordPress driver.
import { expect, test } from 'vitest'
import type {
  CommandOrder,
  CommandResult,
  DatabaseOp,
  DatabaseOrders,
  DatabaseResults,
  ShownRows,
  ToolFault,
} from '../driver.ts'
import type { Site } from './site.conformance.ts'

export function runsTools(site: Site): void {
  const { spec, page, titles } = site
  const run = (
    verb: string,
    args: readonly string[] = [],
    flags: CommandOrder['flags'] = {},
  ): Promise<CommandResult | ToolFault> =>
    site.made().driver.console(spec.id, { verb, args, flags, after: null })

  test('runs commands on the site, and says what became of them', async () => {
    const { wordpress } = await site.made().driver.software(spec.id)
    expect(await run('core version')).toMatchObject({ ok: true, value: wordpress })
    const users = await run('user list', [], { fields: 'ID,user_login' })
    expect(users).toMatchObject({
      ok: true,
      columns: ['ID', 'user_login'],
      rows: [['1', site.admin.user]],
    })
    expect(await run('user list', [], { fields: 'nothing' })).toMatchObject({
      ok: false,
      messages: ['Error: Invalid field: nothing.'],
    })
    expect(await run('no such')).toMatchObject({ ok: false })
  })

  test('takes words as they are, and visitors see at once what was written', async () => {
    const before = await run('option get', ['blogname'])
    const strange = `"'; $(reboot) \`id\` | rm -rf / && <?php eval("1"); %s --exec=1`
    expect(await run('option update', ['tried', strange])).toMatchObject({ ok: true })
    expect(await run('option get', ['tried'])).toMatchObject({ ok: true, value: strange })
    expect(await run('option delete', ['tried'])).toMatchObject({ ok: true })
    expect(await run('option get', ['tried'])).toMatchObject({ ok: false })
    const posts = await run('post list', [], { fields: 'ID' })
    const newest = 'rows' in posts ? (posts.rows[0]?.[0] ?? '') : ''
    expect(await run('post update', [newest], { post_title: 'Từ dòng lệnh' })).toMatchObject({
      ok: true,
    })
    expect(await titles()).toContain('Từ dòng lệnh')
    expect((await page('/')).text).toContain('Từ dòng lệnh')
    expect(await run('option get', ['blogname'])).toEqual(before)
  })

  const ask = async <Op extends DatabaseOp>(
    op: Op,
    order: DatabaseOrders[Op],
  ): Promise<DatabaseResults[Op] | string> => {
    const answer = await site.made().driver.database(spec.id, op, order)
    if ('fault' in answer) return `${answer.fault}: ${answer.why}`
    return answer.data ?? answer.messages.join(' ')
  }
  const rows: DatabaseOrders['rows'] = {
    table: 'wp_users',
    offset: 0,
    limit: 10,
    cellBytes: 200,
    sort: '',
    descends: false,
    filter: null,
    reveals: false,
  }
  const text = (value: string) => ({ kind: 'text', value }) as const

  test('shows the tables of the database, their columns and rows', async () => {
    const found = await ask('tables', {})
    expect(found).toMatchObject({
      tables: expect.arrayContaining([
        { name: 'wp_users', rows: 1, bytes: expect.any(Number) as number },
      ]) as unknown,
    })
    expect(await ask('columns', { table: 'wp_users' })).toMatchObject({
      columns: expect.arrayContaining([
        expect.objectContaining({ name: 'ID', isKey: true, isAutomatic: true }),
      ]) as unknown,
      keys: expect.arrayContaining([
        { name: 'PRIMARY', isUnique: true, columns: ['ID'] },
      ]) as unknown,
    })
    const login = { column: 'user_login', how: 'is', value: site.admin.user } as const
    const shown = await ask('rows', { ...rows, filter: login })
    expect(shown).toMatchObject({ total: 1, isCut: false })
    const users = shown as DatabaseResults['rows']
    const cell = (name: string) => users.rows[0]?.[users.columns.indexOf(name)]
    expect(cell('user_login')).toMatchObject({ kind: 'text', value: site.admin.user })
    expect(cell('user_pass')).toMatchObject({ kind: 'masked', value: '' })
    const open = await ask('row', { table: 'wp_users', key: { ID: '1' }, reveals: true })
    expect(JSON.stringify(open)).not.toContain('masked')
    expect(await ask('rows', { ...rows, table: 'wp_users; drop table wp_posts' })).toBe(
      'There is no such table.',
    )
    expect(await ask('rows', { ...rows, sort: 'nothing' })).toBe("There is no column 'nothing'.")
  })

  test('changes, inserts and deletes a row, and says what stood there', async () => {
    const id = '1'
    const post = { column: 'ID', how: 'is', value: id } as const
    const found = (await ask('rows', { ...rows, table: 'wp_posts', filter: post })) as ShownRows
    const title = found.rows[0]?.[found.columns.indexOf('post_title')]?.value ?? ''
    const change = { table: 'wp_posts', key: { ID: id }, expected: {} } as const
    const renamed = { post_title: text(`'; -- "Chợ" \\ %s`) }
    expect(await ask('change', { ...change, change: 'update', values: renamed })).toMatchObject({
      former: { post_title: { kind: 'text', value: title } },
    })
    expect(await titles()).toContainEqual(expect.stringContaining('Chợ'))
    const stale = { ...change, change: 'update', values: { post_title: text('x') } } as const
    expect(await ask('change', { ...stale, expected: { post_title: text(title) } })).toBe(
      'This row has been changed meanwhile.',
    )
    const back = { post_title: text(title) }
    expect(
      await ask('change', { ...change, change: 'update', values: back, expected: renamed }),
    ).toMatchObject({ former: { post_title: { value: renamed.post_title.value } } })

    const values = { post_title: text('Thêm vào'), post_date: text('2026-01-01 00:00:00') }
    const inserted = await ask('change', { ...change, change: 'insert', key: {}, values })
    const added = String((inserted as DatabaseResults['change']).inserted)
    expect(
      await ask('change', { ...change, change: 'delete', key: { ID: added }, values: {} }),
    ).toMatchObject({ former: { ID: { value: added }, post_title: { value: 'Thêm vào' } } })
    expect(
      await ask('change', { ...change, change: 'delete', key: { ID: added }, values: {} }),
    ).toBe('This row is not there any more.')
    expect(await ask('change', { ...change, change: 'delete', key: {}, values: {} })).toBe(
      'A row is named by its whole primary key.',
    )
  })

  test('runs one statement', async () => {
    const sql = 'select user_login, user_pass from wp_users limit 5'
    const order = { sql, reads: true, limit: 5, reveals: false }
    expect(await ask('sql', order)).toMatchObject({
      columns: ['user_login', 'user_pass'],
      rows: [[{ kind: 'text', value: site.admin.user }, { kind: 'masked' }]],
      changed: null,
    })
    const change = 'update wp_posts set post_title = post_title where ID = 1'
    expect(await ask('sql', { ...order, sql: change, reads: false })).toMatchObject({
      changed: expect.any(Number) as number,
    })
    expect(typeof (await ask('sql', { ...order, sql: 'select nothing from nowhere' }))).toBe(
      'string',
    )
  })
}
