/** Owners run commands on their servers, and read the commands that they and others ran before. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  asksFirst,
  completionsOf,
  faultText,
  masked,
  parseCommand,
  wordsOf,
  type ConsoleAnswer,
  type PastCommand,
} from '../../contract/wordpress-console.ts'
import { verbs } from '../../contract/wordpress-verbs.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'

describe('a command line', () => {
  test('is parted as a shell does, and nothing else of a shell means anything', () => {
    expect(wordsOf(`wp option update 'a b' "c \\"d\\"" e\\ f "" --x='1 2'`)).toEqual([
      'wp',
      'option',
      'update',
      'a b',
      'c "d"',
      'e f',
      '',
      '--x=1 2',
    ])
    expect(wordsOf('option get $(id) `id` | tee > /x && y ; z "$HOME"')).toEqual([
      'option',
      'get',
      '$(id)',
      '`id`',
      '|',
      'tee',
      '>',
      '/x',
      '&&',
      'y',
      ';',
      'z',
      '$HOME',
    ])
    expect(wordsOf(`option get 'open`)).toBeUndefined()
  })

  test('whatever is quoted comes back as it was', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
        const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
        expect(wordsOf(line)).toEqual(words)
      }),
    )
  })

  test('names the nearest command, and says what is wrong with the rest', () => {
    const said = (line: string): string => {
      const read = parseCommand(line)
      return 'fault' in read ? faultText(read, 'en') : read.verb.name
    }
    expect(said('wp plugin activte akismet')).toContain('“plugin activate”')
    expect(said('plugins list')).toContain('“plugin list”')
    expect(said('eval "phpinfo();"')).toContain('There is no command “eval phpinfo();” here.')
    expect(said('--info')).toContain('There is no command “--info” here.')
    expect(said('')).toContain('Type a command')
    for (const flag of [
      'path=/etc',
      'url=x',
      'require=a.php',
      'exec=phpinfo();',
      'ssh=x',
      'user=1',
    ])
      expect(said(`plugin list --${flag}`)).toContain('is not possible here')
    expect(said('plugin list --formt=json')).toContain('--format')
    expect(said('plugin list --format=yaml')).toContain('table, json, csv, count')
    expect(said('plugin list --format')).toContain('needs a value')
    expect(said('post delete 1 --force=1')).toContain('takes no value')
    expect(said('option get')).toContain('<key> is missing')
    expect(said('option update a b c')).toContain('quotation marks')
    expect(said('option get \0')).toContain('cannot be typed')
    expect(said('option get "a')).toContain('not closed')
    expect(said('cron event list')).toBe('cron event list')
  })

  test('never throws, and a command that is kept shows no password', () => {
    const words = fc.oneof(
      fc.constantFrom(...verbs.map(({ name }) => name)),
      fc.constantFrom(
        '--format=json',
        '--user_pass=s3cret-word',
        '\\',
        '"',
        '--role=editor',
        '--yes',
        'a@b.vn',
      ),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(words), (all) => {
        const read = parseCommand(all.join(' '))
        if ('fault' in read) expect(faultText(read, 'vi').length).toBeGreaterThan(5)
        else {
          expect(masked(read)).not.toContain('s3cret-word')
          const args = read.args.map((arg) => arg.replace(/(--user_pass=).*$/s, '$1***'))
          expect(parseCommand(masked(read))).toMatchObject({ verb: read.verb, args })
        }
        completionsOf(all.join(' '))
      }),
    )
    const option = parseCommand('option update smtp_password "not for the history"')
    expect('fault' in option ? '' : masked(option)).toBe('option update smtp_password ***')
  })

  test('is completed word by word', () => {
    expect(completionsOf('pl')).toEqual(['plugin'])
    expect(completionsOf('wp plugin de')).toEqual(['deactivate', 'delete'])
    expect(completionsOf('cron ')).toEqual(['event'])
    expect(completionsOf('cron event ')).toEqual(['list', 'run'])
    expect(completionsOf('plugin list --fo')).toEqual(['--format='])
    expect(completionsOf('plugin list --format=')).toEqual([
      '--format=table',
      '--format=json',
      '--format=csv',
      '--format=count',
    ])
  })

  test('asks first where much is changed', () => {
    const asks = (line: string): boolean => {
      const read = parseCommand(line)
      return !('fault' in read) && asksFirst(read)
    }
    expect(asks('search-replace a b')).toBe(true)
    expect(asks('search-replace a b --dry-run')).toBe(false)
    for (const { name } of verbs.filter((verb) => verb.name.endsWith(' delete')))
      expect(asks(`${name} 1`), name).toBe(name !== 'transient delete')
  })
})

describe('on a server', () => {
  let portal: TestPortal
  let owner: TestCustomer
  let id: string
  beforeAll(async () => {
    portal = await openTestPortal()
    owner = await portal.customer()
    await portal.topUp(owner, 5_000_000)
    ;({ id } = await orderServer(portal, owner))
  })
  afterAll(() => portal.close())
  beforeEach(() => portal.app.db.deleteFrom('rate_limit').execute())

  const run = (command: string, more: object = {}, headers: Record<string, string> = {}) =>
    portal.call<ConsoleAnswer>('POST', `/api/wp/${id}/console`, {
      token: owner.token,
      body: { command, ...more },
      headers,
    })
  const past = async () =>
    (
      await portal.call<PastCommand[]>('GET', `/api/wp/${id}/console/history`, {
        token: owner.token,
      })
    ).body.result
  const refused = (field: string) => ({
    status: 422,
    body: { error: { code: 'invalid_input', fields: { [field]: expect.any(String) as string } } },
  })

  test('a list comes as a table, or as it was asked for', async () => {
    const { body } = await run('wp user list --fields=ID,user_login')
    expect(body.result).toMatchObject({
      command: 'user list --fields=ID,user_login',
      outcome: 'done',
      table: { columns: ['ID', 'user_login'], rows: [['1', 'an']] },
      text: null,
    })
    const text = async (command: string) => (await run(command)).body.result.text
    expect(await text('user list --fields=ID,user_login --format=json')).toBe(
      '[{"ID":"1","user_login":"an"}]',
    )
    expect(await text('user list --fields=ID,user_login --format=csv')).toBe('ID,user_login\n1,an')
    expect(await text('user list --format=ids')).toBe('1')
    expect(await text('user list --format=count')).toBe('1')
  })

  test('help is given in the reader’s language, by the portal itself', async () => {
    const { body } = await run('help plugin', {}, { 'accept-language': 'vi' })
    expect(body.result.table?.columns).toEqual(['Lệnh', 'Công dụng'])
    expect(body.result.table?.rows.map(([name]) => name)).toContain('plugin list')
    expect((await run('help search-replace')).body.result.text).toContain('--dry-run')
    expect((await run('help nothing')).body.result.outcome).toBe('failed')
  })

  test('what is no command is refused and not kept', async () => {
    const before = await past()
    expect(await run('eval "phpinfo();"')).toMatchObject(refused('command'))
    expect(await run('plugin list --exec=x')).toMatchObject(refused('command'))
    expect(await run('option get "a')).toMatchObject(refused('command'))
    expect(await run(`option get ${'x'.repeat(20_000)}`)).toMatchObject(refused('command'))
    expect((await run(`option get ${'x'.repeat(1_048_576)}`)).status).toBe(413)
    expect(await past()).toEqual(before)
  })

  test('what deletes wants a yes', async () => {
    expect(await run('option delete tried')).toMatchObject(refused('confirmed'))
    expect((await run('option delete tried', { confirmed: true })).status).toBe(200)
    expect((await run('option delete tried --yes')).status).toBe(200)
  })

  test('the history says who, when and how, and holds no password', async () => {
    await run('option update admin_password "very secret"')
    await run('option get nowhere')
    const [last, before] = await past()
    expect(last).toMatchObject({
      command: 'option get nowhere',
      outcome: 'failed',
      address: '127.0.0.1',
      ms: expect.any(Number) as number,
    })
    expect(before?.command).toBe('option update admin_password ***')
    expect(JSON.stringify(await past())).not.toContain('very secret')
  })

  test('one that is sent twice runs once', async () => {
    const headers = { 'idempotency-key': 'the-same' }
    const first = await run('option get blogname', {}, headers)
    const count = (await past()).length
    expect((await run('option get blogname', {}, headers)).body).toEqual(first.body)
    expect(await past()).toHaveLength(count)
  })

  test('one at a time; one that was cut off stands in nobody’s way', async () => {
    const now = new Date()
    const other = { site_id: id, customer_id: owner.id, address: '', command: 'cache flush' }
    const running = { ...other, id: crypto.randomUUID(), began_at: now }
    await portal.app.db.insertInto('site_command').values(running).execute()
    expect(await run('core version')).toMatchObject({
      status: 409,
      body: { error: { fields: {} } },
    })
    await portal.app.db
      .updateTable('site_command')
      .set({ began_at: new Date(now.getTime() - 600_000) })
      .where('id', '=', running.id)
      .execute()
    expect((await run('core version')).status).toBe(200)
    expect((await past()).find((one) => one.id === running.id)?.outcome).toBe('lost')
  })

  test('nothing is changed while the server is updated', async () => {
    await portal.app.db
      .insertInto('site_update')
      .values({
        id: crypto.randomUUID(),
        site_id: id,
        state: 'updating',
        cause: 'owner',
        packages: JSON.stringify([]),
        created_at: new Date(),
      })
      .execute()
    expect(await run('option update tried 1')).toMatchObject({
      status: 409,
      body: { error: { code: 'update_in_progress' } },
    })
    expect((await run('option get blogname')).status).toBe(200)
    await portal.app.db.deleteFrom('site_update').where('site_id', '=', id).execute()
  })

  test('sixty an hour', async () => {
    const answers = []
    for (let count = 0; count < 61; count++) answers.push((await run('core version')).status)
    expect(answers.slice(0, 60).every((status) => status === 200)).toBe(true)
    expect(answers[60]).toBe(429)
  })

  test('nobody else’s, and not while the server is suspended', async () => {
    const { token } = await portal.customer()
    const answers = [
      await portal.call('POST', `/api/wp/${id}/console`, { token, body: { command: 'help' } }),
      await portal.call('GET', `/api/wp/${id}/console/history`, { token }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    const set = (status: string) =>
      portal.app.db.updateTable('site').set({ status }).where('id', '=', id).execute()
    await set('suspended')
    expect((await run('core version')).status).toBe(409)
    await set('running')
  })
})
