/** Each command of the console on WordPress and PHP, and sites that try not to answer. */
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ConsoleAnswer } from '../../contract/wordpress-console.ts'
import { verbs } from '../../contract/wordpress-verbs.ts'
import { visitKept } from '../../test/kept-pages.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { usualToolTimes } from './drivers/machine/tools.ts'

let portal: TestPortal
let owner: TestCustomer
let id = ''
let name = ''
/** Shortened where a command is to take too long. */
const toolTimes = { ...usualToolTimes }
beforeAll(async () => {
  portal = await openTestPortal({ wordpress: 'real', toolTimes })
  owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  ;({ id, name } = await orderServer(portal, owner))
  for (const name of ['hours', 'other', 'prints', 'dies', 'throws', 'garbage'])
    put(`plugins/${name}/${name}.php`, plugin(name))
  for (const name of ['spare', 'unused'])
    for (const [file, text] of Object.entries({
      'style.css': `/*\nTheme Name: ${name}\nVersion: 1.0\n*/`,
      'index.php': '<?php',
    }))
      put(`themes/${name}/${file}`, text)
}, 180_000)
afterAll(() => portal.close())
beforeEach(() => portal.app.db.deleteFrom('rate_limit').execute())

const content = () => path.join(portal.dataDir, 'sites', id, 'wordpress', 'wp-content')
function put(name: string, text: string): void {
  const owned = fs.statSync(content())
  const file = path.join(content(), name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
  for (const one of [file, path.dirname(file)]) fs.chownSync(one, owned.uid, owned.gid)
}
const plugin = (name: string, code = ''): string =>
  `<?php\n/*\nPlugin Name: ${name}\nVersion: 1.0\n*/\n${code}`

const tried = new Set<string>()
async function run(command: string): Promise<ConsoleAnswer> {
  const answer = await portal.call<ConsoleAnswer>('POST', `/api/wp/${id}/console`, {
    token: owner.token,
    body: { command, confirmed: true },
  })
  expect(answer.status, `${command}: ${answer.text}`).toBe(200)
  const { result } = answer.body
  const verb = verbs.find(({ name }) => `${command} `.startsWith(`${name} `))
  if (result.outcome === 'done' && verb) tried.add(verb.name)
  return result
}
/** Runs a command that must be done; answers its output. */
async function done(command: string): Promise<string> {
  const answer = await run(command)
  expect(answer, command).toMatchObject({ outcome: 'done' })
  const table = answer.table?.rows.map((row) => row.join(' ')) ?? []
  return [answer.text ?? '', ...table, ...answer.messages].join('\n').trim()
}
const failed = async (command: string): Promise<string> => {
  const answer = await run(command)
  expect(answer, command).toMatchObject({ outcome: 'failed' })
  return answer.messages.join('\n')
}

test('WordPress, plugins and themes', async () => {
  expect(await done('core version')).toMatch(/^\d+\.\d+/)
  await done('core is-installed')
  expect(await done('plugin list --fields=name,status,version')).toContain('hours inactive 1.0')
  expect(await done('plugin activate hours other')).toContain('Success: Activated 2 of 2.')
  expect(await done('plugin status hours')).toContain('status active')
  expect(await done('plugin status')).toContain('other active')
  expect(await done('plugin list --status=active --field=name')).toBe('hours\nother')
  expect(await done('plugin toggle other')).toContain('deactivated')
  expect(await failed('plugin activate hours nowhere')).toContain("The 'nowhere' plugin could not")
  expect(await failed('plugin delete hours')).toContain('deactivate it first')
  await done('plugin deactivate --all')
  await done('plugin delete hours other')
  expect(fs.existsSync(path.join(content(), 'plugins', 'hours'))).toBe(false)
  expect(await done('theme list --fields=name,status')).toContain('spare inactive')
  const used = await done('theme list --status=active --field=name')
  await done('theme activate spare')
  expect(await done('theme status spare')).toContain('status active')
  await done('theme status')
  await done(`theme activate ${used}`)
  await done('theme delete unused')
  expect(await failed(`theme delete ${used}`)).toContain('active')
  expect(await failed('theme activate ../../x')).toContain('could not be found')
})

test('users, whose passwords are made up, shown once and never kept', async () => {
  const made = await done('user create lan lan@example.net --role=editor --display_name="Lan Anh"')
  const password = /Password: (\S+)/.exec(made)?.[1] ?? ''
  expect(password).toHaveLength(24)
  expect(await done('user create ba ba@example.net --porcelain')).toMatch(/^\d+$/)
  expect(await done('user get lan --field=roles')).toBe('editor')
  expect(await done('user list --role=editor --field=user_login')).toBe('lan')
  await done('user update lan --user_email=moi@example.net --user_pass="Mật khẩu 1"')
  expect(await done('user get lan --format=json')).toContain('"user_email":"moi@example.net"')
  await done('user set-role lan author')
  expect(await done('user reset-password lan --skip-email')).toMatch(/Password: \S{24}/)
  await done('user delete lan ba --reassign=an')
  expect(await failed('user delete an')).toContain('only administrator')
  expect(await failed('user set-role an subscriber')).toContain('only administrator')
  expect(await failed('user create x not-an-address')).toContain('is invalid')
  expect(await failed('user get lan')).toContain('Invalid user')
  const history = await portal.call('GET', `/api/wp/${id}/console/history`, { token: owner.token })
  expect(history.text).not.toContain(password)
  expect(history.text).not.toContain('Mật khẩu 1')
  const log = await portal.drivers.wordpress.log(id).tail(1_000)
  expect(log.map(({ text }) => text).join('\n')).not.toContain(password)
})

test('options, posts and comments', async () => {
  await done(`option update blogdescription 'Hàng tươi, mỗi ngày'`)
  expect(await done('option get blogdescription')).toBe('Hàng tươi, mỗi ngày')
  await done(`option update tried '{"a":[1,"hai"]}' --format=json`)
  expect(await done('option get tried --format=json')).toBe('{"a":[1,"hai"]}')
  expect(await done('option get tried')).toContain("1 => 'hai'")
  expect(await done('option list --search=trie*')).toContain('tried')
  await done('option delete tried')
  expect(await failed('option get tried')).toContain('Does it exist?')
  expect(await failed(`option update tried '{' --format=json`)).toContain('Invalid JSON')
  const first = await done('post list --format=ids --posts_per_page=1')
  const html = `<!-- wp:html --><script>"it's"</script> \\\\n<!-- /wp:html -->`
  const content = `'${html.replaceAll("'", `'\\''`)}'`
  await done(`post update ${first} --post_title='Bài "mới"' --post_content=${content}`)
  expect(await done(`post get ${first} --field=post_title`)).toBe('Bài "mới"')
  expect(await done(`post get ${first} --field=post_content`)).toBe(html)
  expect(await done('post list --post_type=page --fields=ID,post_status')).toContain('publish')
  const comment = await done('comment list --format=ids')
  await done(`comment unapprove ${comment}`)
  expect(await done('comment list --status=hold --format=count')).toBe('1')
  await done(`comment approve ${comment}`)
  await done(`comment spam ${comment}`)
  await done(`comment delete ${comment} --force`)
  expect(await done(`post delete ${first}`)).toContain('Trashed')
  await done(`post delete ${first} --force`)
  expect(await failed(`post get ${first}`)).toContain('Could not find')
  expect(await failed(`post get '1 or 1=1'`)).toContain('is no number')
})

test('what is kept for a while, planned work, addresses, tables', async () => {
  await done('cache flush')
  expect(await done('transient list --fields=name,expiration')).toBeDefined()
  expect(await failed('transient delete nowhere')).toContain('Does it exist?')
  await done('transient delete --expired')
  await done('transient delete --all')
  expect(await done('cron event list --fields=hook')).toContain('wp_version_check')
  expect(await done('cron event run delete_expired_transients')).toContain('a total of 1')
  expect(await failed('cron event run nothing_like_that')).toContain('Invalid cron event')
  await done('cron event run --due-now')
  await done('rewrite flush')
  expect(await done('rewrite list --match=/2026/')).toContain('year')
  expect(await done('db tables')).toContain('wp_posts')
  expect(Number.parseInt((await done('db size')).split(' ').at(-2) ?? '', 10)).toBeGreaterThan(
    50_000,
  )
  expect(await done('db size --tables')).toContain('wp_options')
})

test('search and replace, in serialized values too', async () => {
  await done(`option update tried '{"a":["http://cu.example/x","cu.example"]}' --format=json`)
  const counted = await run('search-replace cu.example moi-hon.example --dry-run')
  expect(counted.table?.rows).toEqual([['wp_options', '1']])
  expect(await done('option get tried --format=json')).toContain('cu.example')
  expect(await done('search-replace cu.example moi-hon.example wp_options')).toContain('Made 1')
  expect(await done('option get tried --format=json')).toBe(
    '{"a":["http://moi-hon.example/x","moi-hon.example"]}',
  )
  expect(await done('search-replace moi-hon.example x --format=count --dry-run')).toBe('1')
  expect(await failed('search-replace a b wp_nowhere')).toContain("Couldn't find")
  expect(await failed(`search-replace '' b`)).toContain('empty')
  await done('option delete tried')
})

test('a page that was kept is gone when the command answers', async () => {
  const host = `${name}.localhost`
  // WordPress's own work may drop the page at any time, too.
  const kept = () =>
    eventually('a kept page', async () => (await visitKept(portal, host)).word === 'HIT')
  await kept()
  await done(`option update blogname 'Tiệm bánh'`)
  expect((await visitKept(portal, host)).text).toContain('Tiệm bánh')
  await kept()
  await done(`search-replace 'Tiệm bánh' 'Tiệm trà' wp_options`)
  expect((await visitKept(portal, host)).text).toContain('Tiệm trà')
})

test('maintenance is switched on and off by the same console', async () => {
  const front = async () =>
    (await portal.drivers.wordpress.page(id, { target: '/', cookie: '' })).status
  await done('maintenance-mode activate')
  expect(await front()).toBe(503)
  expect(await done('maintenance-mode status')).toBe('Maintenance mode is active.')
  await done('maintenance-mode deactivate')
  expect(await front()).toBe(200)
})

test('nothing but data comes of what a shell or PHP would run', async () => {
  const canary = path.join(content(), 'canary')
  for (const word of [
    `$(touch ${canary})`,
    '`touch /wordpress/wp-content/canary`',
    `'; file_put_contents('/wordpress/wp-content/canary','x'); //`,
    '%s %d %%',
    'O:8:"stdClass":0:{}',
    '../../../etc/passwd',
  ]) {
    const quoted = `'${word.replaceAll("'", `'\\''`)}'`
    await done(`option update tried ${quoted}`)
    expect(await done(`option get tried --format=json`)).toBe(
      JSON.stringify(word).replaceAll('/', '/'),
    )
    expect(await run(`plugin activate ${quoted}`)).toMatchObject({ outcome: 'failed' })
    expect(await run(`user get ${quoted}`)).toMatchObject({ outcome: 'failed' })
    expect(await run(`search-replace ${quoted} ${quoted}x --dry-run`)).toMatchObject({
      outcome: 'done',
    })
  }
  expect(fs.existsSync(canary)).toBe(false)
  await done('option delete tried')
})

test('an answer that is too long says so', async () => {
  await done(`option update tried '${'đ'.repeat(15_000)}'`)
  put(
    'mu-plugins/long.php',
    `<?php add_filter( 'option_tried', fn( $v ) => str_repeat( $v, 10 ) );`,
  )
  const answer = await run('option get tried')
  expect(answer).toMatchObject({ outcome: 'done', isCut: true })
  expect(Buffer.byteLength(answer.text ?? '')).toBeLessThanOrEqual(262_144)
  fs.rmSync(path.join(content(), 'mu-plugins', 'long.php'))
  await done('option delete tried')
})

const loading = 'if ( ! did_action( "plugins_loaded" ) ) '
test.each([
  ['prints', `${loading}{ echo "<b>hello</b>"; }`, 'done', /The site printed: hello/],
  ['dies', `${loading}{ exit( "not today" ); }`, 'broken', /--skip-plugins/],
  ['throws', 'throw new Error( "no luck" );', 'broken', /no luck/],
  [
    'garbage',
    `${loading}{ ob_end_clean(); echo '{"ok":true}'; flush(); }`,
    'done',
    /The site printed: {/,
  ],
])('a plugin that %s at load', async (name, code, outcome, said) => {
  await done(`plugin activate ${name}`)
  put(`plugins/${name}/${name}.php`, plugin(name, code))
  const answer = await run('core version')
  expect(answer.outcome).toBe(outcome)
  expect(answer.messages.join('\n')).toMatch(said)
  await done(`plugin deactivate ${name} --skip-plugins`)
  expect((await run('core version')).messages).toEqual([])
})

test('one that never ends is ended, and the next one runs', async () => {
  put('mu-plugins/loop.php', '<?php if ( isset( $portal_step ) ) { while ( true ) {} }')
  toolTimes.commandMs = 2_000
  const ask = () =>
    portal.call<ConsoleAnswer>('POST', `/api/wp/${id}/console`, {
      token: owner.token,
      body: { command: 'core version' },
    })
  // Either of two simultaneous commands may be the first.
  const answers = await Promise.all([ask(), ask()])
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  const slow = answers.find(({ status }) => status === 200)
  expect(slow?.body.result.outcome).toBe('slow')
  toolTimes.commandMs = usualToolTimes.commandMs
  fs.rmSync(path.join(content(), 'mu-plugins', 'loop.php'))
  await done('core version')
}, 120_000)

test('each command was tried', () => {
  expect(verbs.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual(['help'])
})
