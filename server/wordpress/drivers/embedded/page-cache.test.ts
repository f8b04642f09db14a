/**
 * The page cache with real WordPress: which pages are cached, which never are, and that no page is
 * stale once a write was answered. `EDITS=10000 SEED=7 npx vitest run <this file>` makes that many
 * random edits.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPageCacheWorld, type World } from '../../../../test/page-cache-world.ts'

const edits = Number(process.env['EDITS'] ?? 25)
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
let world: World

beforeAll(async () => {
  world = await openPageCacheWorld(Number(process.env['CONTAINERS'] ?? 1))
}, 240_000)
afterAll(async () => {
  await world?.close()
}, 60_000)

const word = async (target: string): Promise<string> =>
  String((await world.anonymous.ask(target)).headers['x-cache'])

test('a front page is kept, and gone when the answer to a write is there', async () => {
  await world.anonymous.ask('/')
  const { headers, text } = await world.anonymous.ask('/')
  expect(headers['x-cache']).toBe('HIT')
  expect(text).toContain('Hello world!')
  await world.rest('POST', '/wp/v2/posts/1', { title: 'Hello again' })
  const after = await world.anonymous.ask('/')
  expect(after.headers['x-cache']).toBe('MISS')
  expect(after.text).toContain('Hello again')
  expect(after.text).toBe((await world.uncached('/'))[0])
})

test('while no container answers, what is kept is shown, and made anew afterwards', async () => {
  await world.anonymous.ask('/')
  expect(await word('/')).toBe('HIT')
  await world.kill()
  const seen = new Set<string>()
  const answering = async (): Promise<number> => {
    const { status, headers } = await world.anonymous.ask('/')
    const { length } = world.driver.upstreams(world.spec.id)
    if (length === 0) seen.add(`${status} ${String(headers['x-cache'])}`)
    return length
  }
  await expect.poll(answering, { timeout: 60_000, interval: 5 }).toBe(0)
  await expect.poll(answering, { timeout: 60_000 }).toBeGreaterThan(0)
  expect(seen).toEqual(new Set(['200 HIT']))
  const log = await world.driver.log(world.spec.id).tail(20)
  expect(log.map(({ text }) => text).join()).toContain('restarting')
  expect((await world.anonymous.ask('/')).text).toBe((await world.uncached('/'))[0])
})

test('what WordPress does all the time drops nothing', async () => {
  const usual: Record<string, () => Promise<unknown>> = {
    // The editor stores every few seconds that somebody edits.
    editor: () => world.admin.ask('/wp-admin/post.php?post=1&action=edit'),
    dashboard: () => world.admin.ask('/wp-admin/'),
    jobs: () => world.anonymous.ask('/wp-cron.php?doing_wp_cron'),
    signIn: () => world.signIn(),
  }
  // Each act sets something up when it is first done.
  for (let round = 0; round < 2; round++) for (const act of Object.values(usual)) await act()
  await world.anonymous.ask('/')
  for (const [name, act] of Object.entries(usual)) {
    await act()
    expect(await word('/'), name).toBe('HIT')
  }
  const odd = await world.rest('POST', '/odd/v1/quiet-option', { value: 'nobody has read it' })
  expect(odd.status).toBe(200)
  expect(await word('/')).toBe('HIT')
})

test('never kept: a signed-in visitor, a preview, a search for a nonce, wp-login', async () => {
  expect((await world.admin.ask('/')).headers['x-cache']).toBe('BYPASS')
  for (const target of ['/wp-login.php', '/wp-admin/', '/nothing-here/'])
    for (let visit = 0; visit < 2; visit++) expect(await word(target)).toBe('MISS')
  const { data } = await world.rest('POST', '/wp/v2/posts', {
    title: 'Secret',
    content: 'the secret text',
    status: 'publish',
    password: 'sesame',
  })
  const { link } = data as { link: string }
  const target = new URL(link).pathname
  await world.anonymous.ask(target)
  expect((await world.anonymous.ask(target)).text).not.toContain('the secret text')
  const reader = await world.anonymous.ask('/wp-login.php?action=postpass', {
    method: 'POST',
    body: new URLSearchParams({ post_password: 'sesame' }).toString(),
    headers: { referer: link },
  })
  expect(reader.status).toBe(302)
  const read = await world.anonymous.ask(target)
  expect(read.headers['x-cache']).toBe('BYPASS')
  expect(read.text).toContain('the secret text')
  world.anonymous.cookies.clear()
  expect((await world.anonymous.ask(target)).text).not.toContain('the secret text')
})

/** Where two texts begin to differ. */
function differenceOf(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const near = (text: string): string => text.slice(Math.max(0, at - 60), at + 60)
  return JSON.stringify([near(one), near(other)])
}

/** Random numbers that are the same for the same seed. */
function random(from: number): () => number {
  let state = from
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test(`${edits} random edits (seed ${seed}): no page is stale`, { timeout: 0 }, async () => {
  const next = random(seed)
  const pick = <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)]!
  const say = (): string => `text ${Math.floor(next() * 1e9)}`
  await world.rest('POST', '/wp/v2/settings', { title: 'Edits' })
  let done = 0
  const rest: World['rest'] = async (...call) => {
    const answer = await world.rest(...call)
    if (answer.status < 300) done++
    return answer
  }
  const idOf = ({ data }: { data: unknown }): number[] => {
    const { id } = data as { id?: unknown }
    return typeof id === 'number' ? [id] : []
  }
  const posts = [1]
  const pages = [2]
  const comments = [1]
  const terms: [string, number][] = [['categories', 1]]
  const users = [1]
  const menus: number[] = []
  const items: number[] = []
  const widgets: string[] = []
  const switchTheme = async (stylesheet: string): Promise<void> => {
    const { text } = await world.admin.ask('/wp-admin/themes.php')
    const links = text.replaceAll('\\/', '/').replaceAll(/&amp;|&#038;|\\u0026/g, '&')
    const found = [...links.matchAll(/themes\.php\?action=activate&[^"'<> ]+/g)]
      .map(([link]) => link)
      .find((link) => link.includes(`stylesheet=${stylesheet}&`))
    if (found !== undefined) await world.admin.ask(`/wp-admin/${found}`)
  }
  await switchTheme('odd')
  const general = await world.admin.ask('/wp-admin/options-general.php')
  const nonce = /name="_wpnonce" value="(\w+)"/.exec(general.text)?.[1] ?? ''
  expect(nonce).not.toBe('')
  expect((await world.anonymous.ask('/')).text.includes('first note')).toBe(true)

  /** The last act that bypassed WordPress's own functions. */
  let oddity = ''
  const acts: Record<string, () => Promise<unknown>> = {
    async newPost() {
      posts.push(
        ...idOf(
          await rest('POST', '/wp/v2/posts', {
            title: say(),
            content: say(),
            status: pick(['publish', 'draft', 'private', 'future', 'pending']),
            ...(next() < 0.3 && { date: '2030-01-01T00:00:00' }),
          }),
        ),
      )
    },
    post: () =>
      rest('POST', `/wp/v2/posts/${pick(posts)}`, {
        [pick(['title', 'content', 'excerpt', 'slug', 'password'])]: say(),
      }),
    state: () =>
      rest('POST', `/wp/v2/posts/${pick(posts)}`, {
        status: pick(['publish', 'draft', 'private']),
        sticky: next() < 0.2,
        comment_status: pick(['open', 'closed']),
      }),
    meta: () => rest('POST', `/wp/v2/posts/${pick(posts)}`, { meta: { colour: say() } }),
    trash() {
      const isForGood = next() < 0.5
      const id = pick(posts)
      if (isForGood && posts.length > 1) posts.splice(posts.indexOf(id), 1)
      return rest('DELETE', `/wp/v2/posts/${id}${isForGood ? '?force=true' : ''}`)
    },
    autosave: () =>
      rest('POST', `/wp/v2/posts/${pick(posts)}/autosaves`, { content: say(), title: say() }),
    page: () => rest('POST', `/wp/v2/pages/${pick(pages)}`, { title: say(), content: say() }),
    async newTerm() {
      const kind = pick(['categories', 'tags'])
      for (const id of idOf(await rest('POST', `/wp/v2/${kind}`, { name: say() })))
        terms.push([kind, id])
    },
    term() {
      const [kind, id] = pick(terms)
      return rest('POST', `/wp/v2/${kind}/${id}`, { name: say(), description: say() })
    },
    assign() {
      const [kind, id] = pick(terms)
      return rest('POST', `/wp/v2/posts/${pick(posts)}`, { [kind]: [id] })
    },
    noTerm() {
      const [kind, id] = terms.length > 1 ? terms.pop()! : terms[0]!
      return rest('DELETE', `/wp/v2/${kind}/${id}?force=true`)
    },
    comment: () =>
      world.anonymous
        .ask('/wp-comments-post.php', {
          method: 'POST',
          body: new URLSearchParams({
            comment_post_ID: String(pick(posts)),
            author: say(),
            email: `a${Math.floor(next() * 1e6)}@example.com`,
            comment: say(),
          }).toString(),
        })
        .then(() => world.anonymous.cookies.clear()),
    async newComment() {
      const body = { post: pick(posts), content: say(), status: pick(['approve', 'hold']) }
      comments.push(...idOf(await rest('POST', '/wp/v2/comments', body)))
    },
    moderate: () =>
      rest('POST', `/wp/v2/comments/${pick(comments)}`, {
        status: pick(['approved', 'hold', 'spam', 'trash']),
        content: say(),
      }),
    noComment() {
      const id = comments.length > 1 ? comments.pop()! : comments[0]!
      return rest('DELETE', `/wp/v2/comments/${id}?force=true`)
    },
    async newUser() {
      const name = `u${Math.floor(next() * 1e9)}`
      const body = { username: name, email: `${name}@example.com`, password: `${name}#A1` }
      users.push(...idOf(await rest('POST', '/wp/v2/users', body)))
    },
    user: () =>
      rest('POST', `/wp/v2/users/${pick(users)}`, {
        [pick(['name', 'description', 'nickname', 'first_name'])]: say(),
      }),
    settings: () =>
      rest(
        'POST',
        '/wp/v2/settings',
        pick([
          { title: say() },
          { description: say() },
          { posts_per_page: 1 + Math.floor(next() * 9) },
          { date_format: pick(['Y', 'F j, Y', 'd/m/Y']) },
        ]),
      ),
    adminOptions: () =>
      world.admin.ask('/wp-admin/options.php', {
        method: 'POST',
        body: new URLSearchParams({
          option_page: 'general',
          action: 'update',
          _wpnonce: nonce,
          blogname: say(),
          blogdescription: say(),
          date_format: 'Y',
          time_format: 'H:i',
          start_of_week: '1',
          timezone_string: pick(['UTC', 'Asia/Ho_Chi_Minh']),
        }).toString(),
      }),
    async newMenu() {
      const body = { name: say(), locations: ['main'] }
      menus.push(...idOf(await rest('POST', '/wp/v2/menus', body)))
    },
    async menuItem() {
      const [menu] = menus.slice(-1)
      if (menu === undefined) return
      const body = { menus: menu, title: say(), url: 'https://example.com/', status: 'publish' }
      items.push(...idOf(await rest('POST', '/wp/v2/menu-items', body)))
    },
    async noMenuItem() {
      const id = items.pop()
      if (id !== undefined) await rest('DELETE', `/wp/v2/menu-items/${id}?force=true`)
    },
    async widget() {
      const id = next() < 0.5 ? widgets.at(-1) : undefined
      const instance = { raw: { content: `<p>${say()}</p>` } }
      const { data } = await rest(
        id === undefined ? 'POST' : 'PUT',
        `/wp/v2/widgets${id === undefined ? '' : `/${id}`}`,
        { id_base: 'block', sidebar: 'side', instance },
      )
      const { id: made } = data as { id?: unknown }
      if (id === undefined && typeof made === 'string') widgets.push(made)
    },
    async noWidget() {
      const id = widgets.pop()
      if (id !== undefined) await rest('DELETE', `/wp/v2/widgets/${id}?force=true`)
    },
    theme: () =>
      switchTheme(pick(['odd', 'twentytwentyfive', 'odd'])).then(() => switchTheme('odd')),
    odd() {
      oddity = pick([
        'option',
        'quiet-option',
        'no-option',
        'autoload',
        'transient',
        'no-transient',
        'sql',
        'sql-meta',
        'past-wordpress',
        'theme-file',
        'upload',
        'no-upload',
        'last-moment',
        'early',
        'fatal',
        'transaction',
        'rollback',
      ])
      return rest('POST', `/odd/v1/${oddity}`, { value: say(), id: pick(posts) })
    },
    async cron() {
      world.driver.note(world.spec.id, 'test', 'cron')
      await world.anonymous.ask('/wp-cron.php?doing_wp_cron')
    },
  }
  const names = Object.keys(acts).flatMap((name) => (name === 'odd' ? Array(8).fill(name) : [name]))
  const targets = [
    '/',
    '/?p=1&preview=0',
    '/?author=1',
    '/feed/',
    '/?cat=1',
    '/wp-json/wp/v2/posts?per_page=5',
    '/wp-json/wp/v2/comments',
    '/wp-json/wp/v2/users',
    '/wp-json/wp/v2/types',
    '/?page_id=2',
  ]
  const stale: string[] = []
  let kept = 0
  let dropped = 0
  // Parts that differ from one moment to the next, whoever makes the page.
  const plain = (text: string): string =>
    text.replaceAll(/<lastBuildDate>[^<]*<\/lastBuildDate>/g, '')
  for (let edit = 0; edit < edits; edit++) {
    const target = pick(targets)
    await world.anonymous.ask(target)
    const name = pick(names)
    await acts[name]!()
    const after = await world.anonymous.ask(target)
    if (after.headers['x-cache'] === 'HIT') {
      kept++
      // Containers may differ: each remembers for itself which files exist.
      const now = (await world.uncached(target)).map(plain)
      if (!now.includes(plain(after.text))) {
        stale.push(
          `edit ${edit}: ${name === 'odd' ? oddity : name}, ${target}: ` +
            differenceOf(plain(after.text), now[0]!),
        )
        console.log(stale.at(-1))
      }
    } else dropped++
    // If the site itself is broken, no page would be stale any more.
    if (edit % 100 === 99) await world.uncached('/')
    if (edit % 500 === 499)
      console.log(`${edit + 1} edits: ${kept} kept, ${dropped} dropped, ${stale.length} stale`)
  }
  console.log(
    `seed ${seed}: ${edits} edits, ${done} done by REST, ${kept} pages kept, ` +
      `${dropped} dropped or not kept`,
  )
  expect(done).toBeGreaterThan(edits / 3)
  expect(stale).toEqual([])
})
