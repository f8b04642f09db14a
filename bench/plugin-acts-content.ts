/** Acts on the stand-ins for languages, a forum and events, and for two themes. */
import {
  joined,
  listOf,
  must,
  outcomeOf,
  type JudgedSite,
  type PluginUnderTest,
  textOf,
} from './plugin-judge.ts'

export const languages: PluginUnderTest = {
  folder: 'languages',
  like: 'WPML, Polylang',
  kind: 'plugin',
  acts: [
    {
      name: 'list in one language',
      async run(site) {
        const outcome = await site.kept('/', 'Spring tea', 'Only in English')
        const { text } = await site.world.visitor().ask('/')
        must(!text.includes('Phố cổ'), 'the other language is there')
        return outcome
      },
    },
    {
      name: 'list in the other, with what lacks it',
      async run(site) {
        const outcome = await site.kept('/vi/', 'Trà mùa xuân', 'Only in English')
        const { text } = await site.world.visitor().ask('/vi/')
        must(!text.includes('Spring tea'), 'the first language is there')
        return outcome
      },
    },
    {
      name: 'alternates in the head',
      async run(site) {
        const { data } = await site.rest('GET', '/wp/v2/posts?search=Spring', undefined)
        const [post] = listOf(data)
        return await site.kept(
          new URL(textOf(post?.['link'])).pathname,
          'hreflang="vi"',
          'hreflang="en"',
        )
      },
    },
    {
      name: 'search in a language',
      async run(site) {
        const outcome = await site.shows('/vi/search/pho/', 'Phố cổ')
        const { text } = await site.world.visitor().ask('/vi/search/spring/')
        must(!text.includes('Spring tea.'), 'it finds the other language')
        return outcome
      },
    },
    {
      name: 'report of what is missing',
      run: (site) =>
        site.rest(
          'GET',
          '/languages/v1/report',
          undefined,
          ({ missing, first, ordered }) =>
            [joined(missing), listOf(first).length, joined(ordered)].join(' ') === '3 3 vi,en',
        ),
    },
    {
      name: 'language of the browser',
      async run(site) {
        await site.rest('POST', '/languages/v1/browser', { on: true })
        const asks = (language: string) =>
          site.world.visitor().ask('/', { headers: { 'accept-language': language } })
        for (let round = 0; round < 3; round++) {
          const there = await asks('vi-VN,vi;q=0.9')
          must(there.status === 302, `a Vietnamese visitor has ${there.status}`)
          const here = await asks('en-US')
          must(here.text.includes('Spring tea'), 'an English visitor has another page')
        }
        const answer = await asks('vi')
        await site.rest('POST', '/languages/v1/browser', { on: false })
        return outcomeOf(answer)
      },
      because:
        'the edge asks for a page that may be shared without the visitor’s language; it learns ' +
        'from Vary that this one is not, and then asks for each visitor; once in half a minute ' +
        'one of them sees the site’s own language',
    },
  ],
}

/** A visitor signs up, receives a key, and signs in with it. */
async function join(site: JudgedSite, login: string) {
  await site.letters()
  const guest = site.world.visitor()
  const told = await site.send(guest, '/wp-json/forum/v1/signup', {
    login,
    email: `${login}@example.vn`,
  })
  must(told.status === 200, `signing up answers ${told.status}: ${told.text}`)
  const [letter] = await site.letters()
  const key = /activate=(\w+)/.exec(letter?.text ?? '')?.[1]
  must(key !== undefined, 'no letter with a key was sent')
  const password = 'Another-1-pass'
  const active = await guest.ask(`/?activate=${key}&password=${password}`)
  must(active.text.includes('Your account is active.'), 'the key is not good')
  await guest.ask('/wp-login.php')
  await site.send(guest, '/wp-login.php', { log: login, pwd: password })
  must(
    [...guest.cookies.keys()].some((name) => name.includes('logged_in')),
    'no sign-in',
  )
  return guest
}
let member: Awaited<ReturnType<typeof join>> | undefined
const memberOf = async (site: JudgedSite) => (member ??= await join(site, 'binh'))

export const forum: PluginUnderTest = {
  folder: 'forum',
  like: 'bbPress, BuddyPress',
  kind: 'plugin',
  acts: [
    { name: 'list of topics', run: (site) => site.kept('/forums/', 'Which tea?') },
    {
      name: 'joining: letter, key, sign-in',
      async run(site) {
        await memberOf(site)
        const role = await site.value(`select meta_value from wp_usermeta m join wp_users u
          on u.ID = m.user_id where u.user_login = 'binh' and meta_key = 'wp_capabilities'`)
        must(String(role).includes('participant'), `the role is ${String(role)}`)
        return { status: 200, cache: '' }
      },
    },
    {
      name: 'reply, at once in the topic',
      async run(site) {
        const someone = await memberOf(site)
        await site.kept('/topic/which-tea/', '0 replies')
        const { text: nonce } = await someone.ask('/wp-admin/admin-ajax.php?action=forum_nonce')
        const topic = String(await site.post('which-tea'))
        const answer = await site.send(someone, '/wp-admin/admin-ajax.php', {
          action: 'forum_reply',
          _ajax_nonce: nonce,
          topic,
          text: 'Trà sen!',
        })
        must(answer.text.includes('"success":true'), answer.text)
        return await site.shows('/topic/which-tea/', 'binh: Trà sen!', '1 replies')
      },
    },
    {
      name: 'reply of who has no right',
      async run(site) {
        const answer = await site.send(site.world.visitor(), '/wp-admin/admin-ajax.php', {
          action: 'forum_reply',
          text: 'No',
        })
        must(answer.status === 400, `a stranger has ${answer.status}`)
        return outcomeOf(answer)
      },
    },
    {
      name: 'page for members only',
      async run(site) {
        const outcome = await site.never('/members/', await memberOf(site), 'binh')
        const stranger = await site.world.visitor().ask('/members/')
        must(stranger.status === 302, `a stranger has ${stranger.status}`)
        return outcome
      },
    },
    {
      name: 'stream with its count',
      run: (site) => site.kept('/activity/', 'binh replied', 'binh joined', 'data-all="2"'),
    },
  ],
}

export const events: PluginUnderTest = {
  folder: 'events',
  like: 'The Events Calendar',
  kind: 'plugin',
  acts: [
    {
      name: 'month, computed by the database',
      run: (site) =>
        site.kept('/events/2026-12/', 'Hội hoa Đà Lạt | 20 | Sunday | 150 | 11', 'Chợ đêm Hội An'),
    },
    {
      name: 'calendar file',
      async run(site) {
        const { headers } = await site.world.visitor().ask('/event/hoi-hoa-da-lat/ical/')
        must(String(headers['content-type']).startsWith('text/calendar'), 'it is no calendar')
        return await site.shows('/event/hoi-hoa-da-lat/ical/', 'DTSTART:20261220T083000Z')
      },
    },
    {
      name: 'events nearby',
      run: (site) => site.kept('/events/nearby/', 'Hội hoa Đà Lạt | 88', 'Chợ đêm Hội An | 415'),
    },
    {
      name: 'full-text search, the best first',
      async run(site) {
        const answer = await site.world.visitor().ask('/events/search/?q=hoa+tr%C3%A0')
        const titles = [...answer.text.matchAll(/<li>([^<]*)/g)].map(([, title]) => title)
        must(titles.join() === 'Hội hoa Đà Lạt,Chợ đêm Hội An', `it finds ${titles.join()}`)
        return await site.kept('/events/search/?q=hoa+tr%C3%A0', 'Hội hoa')
      },
    },
    {
      name: 'full-text search in boolean mode',
      async run(site) {
        const query = encodeURIComponent('+hoa -"đèn lồng"')
        const answer = await site.world.visitor().ask(`/events/search/?boolean=1&q=${query}`)
        const titles = [...answer.text.matchAll(/<li>([^<]*)/g)].map(([, title]) => title)
        must(titles.join() === 'Hội hoa Đà Lạt', `it finds ${titles.join()}`)
        return outcomeOf(answer)
      },
    },
    {
      name: 'series of dates',
      async run(site) {
        const id = await site.post('hoi-hoa-da-lat')
        const body = { weeks: [1, 2, 3] }
        return await site.rest('POST', `/events/v1/repeat/${id}`, body, (told) => {
          const { count, last, year, weeks } = told
          return [count, last, year, weeks].map(textOf).join() === '4,2027-01-10 11:00:00,2027,3'
        })
      },
    },
  ],
}

async function newPost(site: JudgedSite, title: string): Promise<{ id: number; path: string }> {
  const body = { title, content: `${title}.`, status: 'publish' }
  const { data } = await site.rest('POST', '/wp/v2/posts', body)
  return { id: Number(data['id']), path: new URL(textOf(data['link'])).pathname }
}

export const classic: PluginUnderTest = {
  folder: 'classic',
  like: 'Astra, GeneratePress',
  kind: 'theme',
  acts: [
    {
      name: 'front page, versioned style sheet',
      async run(site) {
        await site.shows('/wp-content/themes/classic/style.css?ver=1.0', 'system-ui')
        return await site.kept('/', 'themes/classic/style.css?ver=1.0', 'class="post-')
      },
    },
    {
      name: 'comment: held, then shown',
      async run(site) {
        const { id, path } = await newPost(site, 'Bài viết')
        await site.kept(path, 'id="commentform"')
        const sent = await site.send(site.world.visitor(), '/wp-comments-post.php', {
          comment_post_ID: String(id),
          author: 'Chi',
          email: 'chi@example.vn',
          comment: 'Hay quá!',
        })
        must(sent.status === 302, `the comment answers ${sent.status}`)
        const held = await site.world.visitor().ask(path)
        must(!held.text.includes('Hay quá!'), 'it is shown before it was read')
        const comment = await site.value(`select comment_ID from wp_comments where
          comment_post_ID = ${id}`)
        await site.rest('POST', `/wp/v2/comments/${String(comment)}`, { status: 'approved' })
        return await site.shows(path, 'Hay quá!')
      },
    },
    {
      name: 'menu, at once on all pages',
      async run(site) {
        const { data } = await site.rest('POST', '/wp/v2/menus', { name: 'M', locations: ['main'] })
        await site.kept('/', '</html>')
        await site.rest('POST', '/wp/v2/menu-items', {
          menus: data['id'],
          title: 'Cửa hàng',
          url: 'https://example.com/',
          status: 'publish',
        })
        return await site.shows('/', 'Cửa hàng')
      },
    },
    {
      name: 'widget, at once on all pages',
      async run(site) {
        await site.kept('/', '</html>')
        const instance = { raw: { content: '<p>Mở cửa 8 giờ</p>' } }
        const body = { id_base: 'block', sidebar: 'side', instance }
        const { data } = await site.rest('POST', '/wp/v2/widgets', body)
        // In the order of the widget editor: first the widget, then the sidebar's list.
        const widgets = ['block-2', textOf(data['id'])]
        await site.rest('POST', '/wp/v2/sidebars/side', { widgets })
        return await site.shows('/', 'Mở cửa 8 giờ')
      },
    },
    {
      name: 'customizer',
      async run(site) {
        const { text } = await site.world.admin.ask('/wp-admin/customize.php')
        const nonce = /"save":"(\w+)"/.exec(text)?.[1] ?? ''
        const uuid = /"uuid":"([\w-]+)"/.exec(text)?.[1] ?? ''
        const answer = await site.send(site.world.admin, '/wp-admin/admin-ajax.php', {
          action: 'customize_save',
          wp_customize: 'on',
          customize_theme: 'classic',
          customize_changeset_uuid: uuid,
          customize_changeset_status: 'publish',
          customize_changeset_data: JSON.stringify({ accent: { value: '#c1121f' } }),
          nonce,
        })
        must(answer.text.includes('"success":true'), answer.text.slice(0, 200))
        return await site.shows('/', '--accent:#c1121f')
      },
    },
    {
      name: '404, search',
      async run(site) {
        const answer = await site.world.visitor().ask('/nothing-here/')
        must(answer.status === 404 && answer.text.includes('Nothing here'), 'no page for 404')
        await site.shows('/?s=bai+viet', 'Bài viết')
        return outcomeOf(answer)
      },
    },
  ],
}

export const block: PluginUnderTest = {
  folder: 'block',
  like: 'Twenty Twenty-Five, Kadence',
  kind: 'theme',
  acts: [
    {
      name: 'front page of blocks',
      run: (site) => site.kept('/', 'Fresh every day', 'wp-block-post-title', '#fefae0'),
    },
    {
      name: 'second page of the list',
      async run(site) {
        for (const name of ['Một', 'Hai', 'Ba', 'Bốn']) await newPost(site, name)
        await site.rest('POST', '/wp/v2/settings', { posts_per_page: 3 })
        await site.shows('/', 'Bốn', '/page/2/')
        return await site.kept('/page/2/', 'Một')
      },
    },
    {
      name: 'template edited, at once',
      async run(site) {
        await site.kept('/', '</html>')
        const content = '<!-- wp:paragraph --><p>Đang sửa</p><!-- /wp:paragraph -->'
        await site.rest('POST', '/wp/v2/templates/block//index', { content })
        return await site.shows('/', 'Đang sửa')
      },
    },
    {
      name: 'template put back',
      async run(site) {
        await site.rest('DELETE', '/wp/v2/templates/block//index?force=true', undefined)
        return await site.shows('/', 'Fresh every day')
      },
    },
    {
      name: 'global styles',
      async run(site) {
        const { data } = await site.rest('GET', '/wp/v2/themes/block', undefined)
        const [link] = listOf(data['_links']?.['wp:user-global-styles'])
        must(link !== undefined, 'the theme names no styles')
        const route = textOf(link['href']).replace(/^.*\/wp-json/, '')
        const styles = { color: { background: '#101418' } }
        await site.rest('POST', route, { styles })
        return await site.shows('/', '#101418')
      },
    },
    {
      name: 'editor of the site',
      async run(site) {
        const answer = await site.world.admin.ask('/wp-admin/site-editor.php')
        must(answer.status === 200 && answer.text.includes('edit-site'), 'it does not open')
        await site.rest('GET', '/wp/v2/block-patterns/patterns', undefined, (all) =>
          JSON.stringify(all).includes('block/promise'),
        )
        return outcomeOf(answer)
      },
    },
  ],
}
