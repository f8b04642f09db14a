/** Acts on the stand-ins for a page builder, for backups, for security and for a page cache. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { putOpenFile } from '../test/embedded-wordpress.ts'
import {
  joined,
  listOf,
  must,
  outcomeOf,
  type JudgedSite,
  type Outcome,
  type Json,
  type PluginUnderTest,
  textOf,
} from './plugin-judge.ts'

interface Part {
  readonly id: string
  readonly settings: { readonly colour: string; readonly text: string }
}
/** A page of 400 parts, about 1 MB; its texts contain characters that JSON and WordPress escape. */
const parts = (word: string): Part[] =>
  Array.from({ length: 400 }, (_, index) => ({
    id: `p${index}`,
    settings: { colour: '#2d6a4f', text: `${word} "${index}" \\ 'đường' ${'trà '.repeat(500)}` },
  }))
const inSite = (site: JudgedSite, file: string): string => path.join(site.world.folder, file)

let built = 0
async function builder(site: JudgedSite, actions: object): Promise<Json> {
  if (built === 0) {
    const body = { title: 'Built', slug: 'built', status: 'publish' }
    built = Number((await site.rest('POST', '/wp/v2/pages', body)).data['id'])
  }
  const { text } = await site.world.admin.ask(`/wp-admin/admin.php?action=builder&post=${built}`)
  const nonce = /"nonce":"(\w+)"/.exec(text)?.[1]
  must(nonce !== undefined, 'the editor does not open')
  const answer = await site.send(site.world.admin, '/wp-admin/admin-ajax.php', {
    action: 'builder_ajax',
    _nonce: nonce,
    editor_post_id: String(built),
    actions: JSON.stringify(actions),
  })
  must(answer.status === 200, `AJAX answers ${answer.status}: ${answer.text.slice(0, 200)}`)
  const { data } = JSON.parse(answer.text) as { data: { responses: Json } }
  return data.responses
}
const save = (word: string) => ({
  save: { action: 'save_builder', data: { elements: parts(word) } },
})

export const pageBuilder: PluginUnderTest = {
  folder: 'page-builder',
  like: 'Elementor',
  kind: 'plugin',
  acts: [
    {
      name: 'editor opens',
      async run(site) {
        await builder(site, {})
        return { status: 200, cache: '' }
      },
    },
    {
      name: '1 MB is saved by AJAX',
      async run(site) {
        const { save: told } = await builder(site, save('First'))
        const bytes = Number(told?.['bytes'])
        must(bytes > 900_000, `${bytes} bytes are kept`)
        return { status: 200, cache: '' }
      },
    },
    { name: 'page from JSON', run: (site) => site.kept('/built/', 'part-p399">First ', 'đường') },
    {
      name: 'style sheet of the page',
      async run(site) {
        const { text } = await site.world.visitor().ask('/built/')
        const target = /\/wp-content\/uploads\/builder\/css\/post-\d+\.css\?ver=\d+/.exec(text)?.[0]
        must(target !== undefined, 'the page names no style sheet')
        return await site.shows(target, '.part-p399{color:#2d6a4f}')
      },
    },
    {
      name: 'second save, at once on the page',
      async run(site) {
        await builder(site, save('Second'))
        return await site.shows('/built/', 'part-p0">Second ')
      },
    },
    {
      name: 'revision restored, export',
      async run(site) {
        const { list } = await builder(site, { list: { action: 'get_revisions' } })
        const oldest = Number(listOf(list).at(-1))
        await builder(site, { back: { action: 'restore', data: { revision: oldest } } })
        await site.shows('/built/', 'part-p0">First ')
        return await site.rest('GET', `/builder/v1/export/${built}`, undefined, ({ content }) => {
          const elements = listOf(content)
          const { text } = elements[7]?.['settings'] ?? {}
          return elements.length === 400 && textOf(text) === parts('First')[7]?.settings.text
        })
      },
    },
  ],
}

export const backup: PluginUnderTest = {
  folder: 'backup',
  like: 'UpdraftPlus, Duplicator',
  kind: 'plugin',
  acts: [
    {
      name: 'what the server says of itself',
      run: (site) =>
        site.rest('POST', '/backup/v1/status', {}, (told) => {
          const { packet, charset, lower, triggers, routines, zip, writable, free } = told
          const said = [charset, lower, triggers, routines, zip, writable].map(textOf).join(' ')
          const isOwnDisk = Number(free) < 11e9
          return said === 'utf8mb4 0 0 0 true true' && Number(packet) >= 1_048_576 && isOwnDisk
        }),
      inContainers:
        'the limit of the plan holds, and what PHP is told to be free is the machine’s disk: ' +
        'statfs(2) knows nothing of quotas of btrfs',
    },
    {
      name: 'all tables as SQL',
      async run(site) {
        const outcome = await site.rest('POST', '/backup/v1/database', {})
        const file = inSite(site, 'wp-content/backups/db.gz')
        const sql = gunzipSync(readFileSync(file)).toString()
        const made = sql.match(/^CREATE TABLE/gm)?.length ?? 0
        must(made === Number(outcome.data['tables']) && made >= 12, `${made} tables are in it`)
        must(sql.includes('AUTO_INCREMENT') && sql.includes("'admin_email'"), 'it is no dump')
        return outcome
      },
    },
    {
      name: 'archive of wp-content',
      run: (site) => site.rest('POST', '/backup/v1/files', {}, ({ files }) => Number(files) > 100),
    },
    {
      name: 'download for its owner alone',
      async run(site) {
        const direct = await site.world.visitor().ask('/wp-content/backups/db.gz')
        must(direct.status === 403 || direct.status === 404, `a visitor has ${direct.status}`)
        const answer = await site.press('tools.php?page=backup', 'backup_download')
        const saved = readFileSync(inSite(site, 'wp-content/backups/db.gz')).length
        must(Number(answer.headers['content-length'] ?? saved) === saved, 'it is cut')
        return outcomeOf(answer)
      },
    },
    {
      name: 'restored under another prefix',
      run: (site) =>
        site.rest('POST', '/backup/v1/restore', {}, ({ faults, rows }) => {
          // Options change all the time, so they are not compared.
          const tables = Object.entries(rows ?? {}).filter(([name]) => name !== 'wp_options')
          return (
            joined(faults) === '' &&
            tables.length >= 11 &&
            tables.every(([, counts]) => new Set(listOf(counts)).size === 1)
          )
        }),
    },
    {
      name: 'address replaced in serialised values',
      async run(site) {
        await site.rest('POST', '/wp/v2/settings', { description: 'https://old.example/x' })
        const body = { from: 'https://old.example', to: 'https://new-name.example' }
        return await site.rest('POST', '/backup/v1/replace', body, (told) => {
          const { copied, changed, keys } = told
          return Number(copied) > 100 && Number(changed) >= 1 && Number(keys) >= 2
        })
      },
    },
  ],
}

/** The address of a refused visitor. */
const stranger = '127.0.0.2'
export const security: PluginUnderTest = {
  folder: 'security',
  like: 'Wordfence',
  kind: 'plugin',
  acts: [
    {
      name: 'hits with addresses in binary',
      async run(site) {
        await site.rest('POST', '/security/v1/on', {})
        await site.world.visitor().ask('/?p=1')
        return await site.rest('POST', '/security/v1/hits', {}, (hits) => {
          const { hex, address } = listOf(hits)[0] ?? {}
          return textOf(hex).length === 32 && textOf(address) === '::ffff:127.0.0.1'
        })
      },
    },
    {
      name: 'pages stay kept while hits are written',
      run: (site) => site.kept('/', 'Hello world!').catch(() => site.kept('/', '</html>')),
    },
    {
      name: 'scan finds a planted file',
      async run(site) {
        const first = await site.rest('POST', '/security/v1/scan', {})
        must(Number(first.data['files']) > 50, 'hardly any file was seen')
        const planted = inSite(site, 'wp-content/uploads/shell.php')
        putOpenFile(planted, '<?php eval( base64_decode( $_POST["x"] ) );')
        return await site.rest(
          'POST',
          '/security/v1/scan',
          {},
          ({ bad }) => joined(bad) === 'wp-content/uploads/shell.php',
        )
      },
    },
    {
      name: 'the site calls itself',
      run: (site) =>
        site.rest('POST', '/security/v1/self', {}, (said) => textOf(said) === 'SECURITY-TEST-OK'),
    },
    {
      name: 'five wrong passwords close the door',
      async run(site) {
        const guest = site.world.visitor(stranger)
        await guest.ask('/wp-login.php')
        for (let attempt = 0; attempt < 5; attempt++)
          await site.send(guest, '/wp-login.php', { log: 'boss', pwd: `wrong ${attempt}` })
        const answer = await guest.ask('/wp-login.php')
        must(answer.status === 503, `the sixth answers ${answer.status}`)
        await site.shows('/wp-login.php', 'user_login')
        return outcomeOf(answer)
      },
    },
    {
      name: 'who is refused sees no kept page',
      async run(site) {
        await site.kept('/', '</html>')
        const answer = await site.world.visitor(stranger).ask('/')
        must(answer.status === 503, `he sees the page (${String(answer.headers['x-cache'])})`)
        return outcomeOf(answer)
      },
      because:
        'pages that are kept are served without PHP, so a plugin refuses nobody there; the list ' +
        'of denied networks on the server’s own screen does, at the edge',
    },
  ],
}

export const pageCache: PluginUnderTest = {
  folder: 'page-cache',
  like: 'W3 Total Cache',
  kind: 'plugin',
  acts: [
    {
      name: 'drop-in and WP_CACHE',
      run(site) {
        const config = readFileSync(inSite(site, 'wp-config.php'), 'utf8')
        must(config.includes(`define( 'WP_CACHE', true );`), 'wp-config.php was not written')
        must(existsSync(inSite(site, 'wp-content/advanced-cache.php')), 'no drop-in')
        return site.shows('/', '</html>')
      },
    },
    {
      name: 'page from the plugin’s own files',
      async run(site) {
        await site.world.visitor().ask('/?p=2')
        const target = new URL(
          textOf((await site.rest('GET', '/wp/v2/pages/2', undefined)).data['link']),
        ).pathname
        let answer = await site.world.visitor().ask(target)
        for (let visit = 0; visit < 3 && !answer.headers['x-stand-in-cache']; visit++)
          answer = await site.world.visitor().ask(target)
        const isKept = answer.headers['x-cache'] === 'HIT'
        must(isKept || answer.headers['x-stand-in-cache'] === 'hit', 'nobody keeps it')
        return outcomeOf(answer)
      },
    },
    {
      name: 'an edit, at once on the page',
      async run(site) {
        const { data } = await site.rest('POST', '/wp/v2/pages/2', { title: 'Đổi mới ngay' })
        return await site.shows(new URL(textOf(data['link'])).pathname, 'Đổi mới ngay')
      },
    },
    {
      name: 'joined style sheet',
      async run(site) {
        await site.shows('/', 'cache/minify/all.css')
        return await site.shows('/wp-content/cache/minify/all.css?ver=1', '.wp-site')
      },
    },
    {
      name: 'object cache in files',
      async run(site) {
        await site.rest('POST', '/cache/v1/objects', {})
        for (let edit = 0; edit < 3; edit++) {
          await site.rest('POST', '/wp/v2/posts/1', { title: `Bản ${edit}` })
          await site.shows('/', `Bản ${edit}`)
        }
        await site.rest('POST', '/cache/v1/noobjects', {})
        return await site.shows('/', 'Bản 2')
      },
    },
    {
      name: 'switched off, nothing is left',
      async run(site) {
        await site.put('plugin', 'page-cache', false)
        const config = readFileSync(inSite(site, 'wp-config.php'), 'utf8')
        must(!config.includes('WP_CACHE'), 'WP_CACHE is left')
        must(!existsSync(inSite(site, 'wp-content/advanced-cache.php')), 'the drop-in is left')
        const outcome = await site.kept('/', 'Bản 2').catch((error: unknown) => error)
        await site.put('plugin', 'page-cache', true)
        if (outcome instanceof Error) throw outcome
        return outcome as Outcome
      },
    },
  ],
}
