/**
 * Acts on plugins and themes as published by their authors, if they are in a folder
 * (bench/plugins.ts). Each ends with a check of the log.
 */
import {
  must,
  outcomeOf,
  type Act,
  type JudgedSite,
  type PluginUnderTest,
  textOf,
} from './plugin-judge.ts'

const screen = (name: string, target: string, ...texts: readonly string[]): Act => ({
  name,
  async run(site) {
    const answer = await site.world.admin.ask(`/wp-admin/${target}`)
    must(answer.status === 200, `it answers ${answer.status} ${answer.headers.location ?? ''}`)
    for (const text of texts) must(answer.text.includes(text), `“${text}” is not there`)
    return outcomeOf(answer)
  },
})
const front: Act = { name: 'front page', run: (site) => site.kept('/', '</html>') }
/** Errors that PHP or the database logged since the site began. */
const quietLog: Act = {
  name: 'no error in the log',
  async run(site) {
    const { driver, spec } = site.world
    const lines = (await driver.log(spec.id).tail(1_000)).map(({ text }) => text)
    const since = lines.slice(lines.findLastIndex((line) => line.includes('action=activate')) + 1)
    const faults = since.filter((line) =>
      /PHP (?:Fatal|Parse|Recoverable)|WordPress database error/.test(line),
    )
    must(faults.length === 0, faults.slice(0, 3).join(' / ').slice(0, 500))
    return { status: 200, cache: '' }
  },
}

async function page(site: JudgedSite, title: string, content: string): Promise<string> {
  const body = { title, content, status: 'publish' }
  const { data } = await site.rest('POST', '/wp/v2/pages', body)
  return new URL(textOf(data['link'])).pathname
}
/** Fills in the form of a wp-admin screen and sends it to post.php. */
async function byForm(site: JudgedSite, target: string, fields: Record<string, string>) {
  const { text } = await site.world.admin.ask(`/wp-admin/${target}`)
  const form = /<form[^>]*name="post"[\s\S]*?<\/form>/.exec(text)?.[0] ?? ''
  must(form !== '', `${target} has no form`)
  const hidden = [...form.matchAll(/<input[^>]*type=["']hidden["'][^>]*>/g)].map(([input]) => [
    /name=["']([^"']+)/.exec(input)?.[1] ?? '',
    (/value=["']([^"']*)/.exec(input)?.[1] ?? '').replaceAll('&amp;', '&'),
  ])
  const body = { ...(Object.fromEntries(hidden) as Record<string, string>), ...fields }
  const answer = await site.send(site.world.admin, '/wp-admin/post.php', body)
  must(answer.status === 302, `post.php answers ${answer.status}`)
}

const plugin = (folder: string, like: string, ...acts: readonly Act[]): PluginUnderTest => ({
  folder,
  like,
  kind: 'plugin',
  acts: [...acts, quietLog],
})

export const real: readonly PluginUnderTest[] = [
  {
    folder: 'twentytwentyone',
    like: 'Twenty Twenty-One',
    kind: 'theme',
    acts: [
      { name: 'front page', run: (site) => site.kept('/', 'themes/twentytwentyone/') },
      {
        name: 'post with its comments',
        async run(site) {
          const { data } = await site.rest('GET', '/wp/v2/posts/1', undefined)
          return await site.kept(new URL(textOf(data['link'])).pathname, 'id="commentform"')
        },
      },
      screen('customizer', 'customize.php', 'twentytwentyone'),
      quietLog,
    ],
  },
  plugin(
    'contact-form-7',
    'Contact Form 7',
    screen('list of forms', 'admin.php?page=wpcf7', 'Contact form 1'),
    {
      name: 'page with the form',
      async run(site) {
        const id = await site.value(
          `select ID from wp_posts where post_type = 'wpcf7_contact_form' limit 1`,
        )
        const target = await page(site, 'Real contact', `[contact-form-7 id="${String(id)}"]`)
        return await site.kept(target, 'wpcf7-form')
      },
    },
    {
      name: 'message: letter',
      async run(site) {
        await site.letters()
        const id = await site.value(
          `select ID from wp_posts where post_type = 'wpcf7_contact_form' limit 1`,
        )
        const mark = 'a-boundary-of-the-form'
        const fields = {
          _wpcf7: String(id),
          _wpcf7_unit_tag: `wpcf7-f${String(id)}-o1`,
          'your-name': 'An',
          'your-email': 'an@example.vn',
          'your-subject': 'Xin chào',
          'your-message': 'Đặt bàn',
        }
        const parts = Object.entries(fields).map(
          ([name, value]) =>
            `--${mark}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
        )
        const target = `/wp-json/contact-form-7/v1/contact-forms/${String(id)}/feedback`
        const answer = await site.world.visitor().ask(target, {
          method: 'POST',
          headers: {
            'content-type': `multipart/form-data; boundary=${mark}`,
            // Without a user agent the plugin takes the visitor for a robot.
            'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)',
          },
          body: `${parts.join('')}--${mark}--\r\n`,
        })
        must(answer.text.includes('mail_sent'), answer.text.slice(0, 200))
        must((await site.letters()).length === 1, 'no letter was sent')
        return outcomeOf(answer)
      },
    },
  ),
  plugin(
    'wp-super-cache',
    'WP Super Cache',
    front,
    screen('settings', 'options-general.php?page=wpsupercache', 'WP Super Cache'),
    {
      name: 'an edit, at once on the page',
      async run(site) {
        await site.rest('POST', '/wp/v2/posts/1', { title: 'Bản thật' })
        return await site.shows('/', 'Bản thật')
      },
    },
  ),
  plugin('classic-editor', 'Classic Editor', front, {
    name: 'post written in its editor',
    async run(site) {
      await byForm(site, 'post.php?post=1&action=edit', {
        post_title: 'Bằng tay',
        content: 'Viết bằng trình soạn thảo cũ',
        comment_status: 'open',
        save: 'Update',
      })
      return await site.shows('/', 'Bằng tay')
    },
  }),
  plugin(
    'the-seo-framework',
    'The SEO Framework',
    {
      name: 'head of a post',
      async run(site) {
        const { data } = await site.rest('GET', '/wp/v2/posts/1', undefined)
        const target = new URL(textOf(data['link'])).pathname
        return await site.kept(target, 'application/ld+json', 'The SEO Framework')
      },
    },
    { name: 'site map', run: (site) => site.shows('/sitemap.xml', '<urlset', '<loc>') },
    screen('settings', 'admin.php?page=theseoframework-settings', 'theseoframework'),
  ),
  plugin('newspack-blocks', 'Newspack Blocks', front, {
    name: 'page with its blocks',
    async run(site) {
      const block = '<!-- wp:newspack-blocks/homepage-articles {"postsToShow":3} /-->'
      const title = String(await site.value('select post_title from wp_posts where ID = 1'))
      return await site.kept(await page(site, 'News', block), 'wp-block-newspack-blocks', title)
    },
  }),
  plugin(
    'redirection',
    'Redirection',
    {
      name: 'its tables',
      async run(site) {
        await site.world.admin.ask('/wp-admin/tools.php?page=redirection.php')
        for (let step = 0; step < 20; step++) {
          const { data } = await site.rest('POST', '/redirection/v1/plugin/data', {})
          if (textOf(data['inProgress']) === 'false') break
        }
        const count = await site.value(`select count(*) from sqlite_master where type = 'table' and
          name in ('wp_redirection_items', 'wp_redirection_groups', 'wp_redirection_404')`)
        must(count === 3, `${String(count)} of 3 tables are there`)
        return { status: 200, cache: '' }
      },
    },
    {
      name: 'redirect, and a visitor who is sent',
      async run(site) {
        await site.rest('POST', '/redirection/v1/redirect', {
          url: '/old-tea/',
          action_data: { url: '/' },
          action_type: 'url',
          action_code: 301,
          match_type: 'url',
          group_id: 1,
          status: 'enabled',
          regex: false,
        })
        const answer = await site.world.visitor().ask('/old-tea/')
        must(answer.status === 301, `it answers ${answer.status}`)
        return outcomeOf(answer)
      },
    },
    screen('list', 'tools.php?page=redirection.php', 'react-ui'),
  ),
  plugin(
    'bbpress',
    'bbPress',
    {
      name: 'forum, made in wp-admin',
      async run(site) {
        await byForm(site, 'post-new.php?post_type=forum', {
          post_title: 'Trà',
          content: 'Nói về trà',
          publish: 'Publish',
        })
        return await site.kept('/forums/', 'Trà')
      },
    },
    { name: 'the forum', run: (site) => site.shows('/forums/forum/tra/', 'bbpress', 'Trà') },
    screen('settings', 'options-general.php?page=bbpress', 'bbp'),
  ),
  plugin(
    'buddypress',
    'BuddyPress',
    {
      name: 'directory of members',
      async run(site) {
        return await site.shows('/members/', 'buddypress')
      },
    },
    { name: 'stream', run: (site) => site.shows('/activity/', 'buddypress') },
    screen('components', 'options-general.php?page=bp-components', 'bp-components'),
  ),
  plugin(
    'akismet',
    'Akismet',
    front,
    screen('settings', 'options-general.php?page=akismet-key-config', 'Akismet'),
  ),
]
