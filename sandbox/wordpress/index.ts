/**
 * The directory of WordPress: api.wordpress.org and downloads.wordpress.org below one address,
 * /wordpress. It offers the releases of releases.ts; a person chooses which is the newest.
 *
 * For programs:
 *   GET  /wordpress/state.json       its behaviour, and the newest release of each
 *   POST /wordpress/state.json       {newest: {slug: version}, mode}: changes either
 * A mode is one of: well; down (503); slow (each answer waits slowMs); lies (its zips are of
 * another version than it says); astray (packages are on another host).
 */
import { setTimeout as pause } from 'node:timers/promises'
import { formOf, json, type Call, type Reply, type Routes } from '../http.ts'
import { directoryModes, type DirectoryState } from './behaviour.ts'
import { changedPage, directoryPage } from './page.ts'
import {
  coreVersions,
  coreZip,
  pluginMain,
  pluginSlug,
  releases,
  type SandboxRelease,
} from './releases.ts'
import { zipOf } from './zip.ts'

const core = 'wordpress'
const zipType = { 'content-type': 'application/zip' }

const releaseOf = (slug: string, version: string): SandboxRelease | undefined =>
  releases.find((one) => one.slug === slug && one.version === version)

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
const namesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.keys(value) : []

/**
 * `wordpressFiles`: WordPress as sites here have it; without it the directory has no release of it.
 */
export function directoryRoutes(url: () => string, wordpressFiles: string | undefined): Routes {
  const state: DirectoryState = {
    mode: 'well',
    slowMs: 3_000,
    newest: { [pluginSlug]: '1.0.0', 'mua-thu': '1.0', [core]: null },
    asked: {},
  }
  let coreFile: { version: string; content: Buffer } | undefined

  const counted =
    (what: string, answer: (call: Call) => Reply | Promise<Reply>) =>
    async (call: Call): Promise<Reply> => {
      state.asked[what] = (state.asked[what] ?? 0) + 1
      if (state.mode === 'down') return { status: 503, body: 'down' }
      if (state.mode === 'slow') await pause(state.slowMs)
      return await answer(call)
    }
  const packageUrl = (kind: string, slug: string, version: string): string =>
    (state.mode === 'astray' ? 'http://elsewhere.invalid' : `${url()}/wordpress`) +
    `/${kind}/${slug}.${version}.zip`

  function coreCheck({ query }: Call): Reply {
    const asked = query.get('version') ?? ''
    const { newest } = state
    const version = newest[core]
    if (!wordpressFiles || !version || version === asked)
      return json({ offers: [{ ...coreOffer(asked), response: 'latest' }], translations: [] })
    const offer = coreOffer(version)
    return json({
      offers: [
        { ...offer, response: 'upgrade' },
        { ...offer, response: 'autoupdate' },
      ],
      translations: [],
    })
  }
  const coreOffer = (version: string) => {
    const download = packageUrl('release', core, version)
    return {
      download,
      locale: 'en_US',
      packages: {
        full: download,
        no_content: false,
        new_bundled: false,
        partial: false,
        rollback: false,
      },
      current: version,
      version,
      php_version: '7.2.24',
      mysql_version: '5.5.5',
      new_bundled: '6.7',
      partial_version: false,
    }
  }

  /** Answers WordPress's update check for plugins: `{plugins: {file: {…}}, active: []}`. */
  function pluginCheck(call: Call): Reply {
    const asked = parsed(formOf(call).get('plugins')) as { plugins?: Record<string, unknown> }
    const has = namesOf(asked?.plugins).includes(pluginMain)
    const installed = (asked?.plugins?.[pluginMain] as { Version?: string } | undefined)?.Version
    const release = releaseOf(pluginSlug, state.newest[pluginSlug] ?? '')
    if (!has || !release) return json({ plugins: [], translations: [], no_update: [] })
    const offer = {
      id: `w.org/plugins/${pluginSlug}`,
      slug: pluginSlug,
      plugin: pluginMain,
      new_version: release.version,
      url: `${url()}/wordpress`,
      package: packageUrl('plugin', pluginSlug, release.version),
      requires: '6.0',
      requires_php: release.requiresPhp ?? '7.4',
      ...(release.security && { autoupdate: true }),
    }
    const list = { [pluginMain]: offer }
    return json(
      installed === release.version
        ? { plugins: [], translations: [], no_update: list }
        : { plugins: list, translations: [], no_update: [] },
    )
  }

  function themeCheck(call: Call): Reply {
    const asked = parsed(formOf(call).get('themes')) as { themes?: Record<string, unknown> }
    const list = namesOf(asked?.themes).flatMap((slug) => {
      const release = releaseOf(slug, state.newest[slug] ?? '')
      if (release?.kind !== 'theme') return []
      const offer = {
        theme: slug,
        new_version: release.version,
        url: `${url()}/wordpress`,
        package: packageUrl('theme', slug, release.version),
        requires: '6.0',
        requires_php: '7.4',
      }
      return [[slug, offer] as const]
    })
    return json({
      themes: list.length === 0 ? [] : Object.fromEntries(list),
      translations: [],
      no_update: [],
    })
  }

  /** plugins/info/1.2: information about one plugin. */
  function pluginInfo({ query }: Call): Reply {
    const slug = query.get('slug') ?? query.get('request[slug]') ?? ''
    const release = releaseOf(slug, state.newest[slug] ?? '')
    if (!release) return json({ error: 'Plugin not found.' }, 404)
    return json({
      name: 'Giờ mở cửa',
      slug,
      version: release.version,
      requires: '6.0',
      requires_php: release.requiresPhp ?? '7.4',
      download_link: packageUrl('plugin', slug, release.version),
    })
  }

  function download({ params }: Call): Reply {
    const [, slug = '', version = ''] =
      /^([a-z-]+?)\.([\d.]+)\.zip$/.exec(params['file'] ?? '') ?? []
    if (slug === core && wordpressFiles) {
      if (coreFile?.version !== version)
        coreFile = { version, content: coreZip(wordpressFiles, version) }
      return { status: 200, headers: zipType, body: coreFile.content }
    }
    const all = releases.filter((one) => one.slug === slug)
    const release = releaseOf(slug, version)
    if (!release) return { status: 404, body: 'not found' }
    const given = state.mode === 'lies' ? (all.find((one) => one !== release) ?? release) : release
    return { status: 200, headers: zipType, body: zipOf(given.files()) }
  }

  function change(to: { newest?: unknown; mode?: unknown; slowMs?: unknown }): void {
    const mode = directoryModes.find((one) => one === to.mode)
    if (mode) state.mode = mode
    if (typeof to.slowMs === 'number') state.slowMs = to.slowMs
    for (const [slug, version] of Object.entries(to.newest ?? {})) {
      if (slug === core && wordpressFiles)
        state.newest[core] =
          typeof version === 'string' && /^\d+(?:\.\d+){1,2}$/.test(version) ? version : null
      else if (releaseOf(slug, String(version))) state.newest[slug] = String(version)
    }
  }

  const checks: Routes = {
    'GET /wordpress/core/version-check/1.7': counted('core', coreCheck),
    'POST /wordpress/plugins/update-check/1.1': counted('plugins', pluginCheck),
    'POST /wordpress/themes/update-check/1.1': counted('themes', themeCheck),
    'GET /wordpress/plugins/info/1.2': counted('info', pluginInfo),
  }
  const packages = Object.fromEntries(
    ['plugin', 'theme', 'release'].map((kind) => [
      `GET /wordpress/${kind}/:file`,
      counted(`${kind} package`, download),
    ]),
  )
  return {
    ...checks,
    ...packages,
    'GET /wordpress/state.json': () => json(state),
    'POST /wordpress/state.json': ({ body }) => {
      change((parsed(body.toString('utf8')) ?? {}) as Parameters<typeof change>[0])
      return json(state)
    },
    'GET /wordpress': () =>
      directoryPage(state, wordpressFiles ? coreVersions(wordpressFiles) : undefined),
    'POST /wordpress': (call) => {
      const form = formOf(call)
      const slug = form.get('slug')
      change({
        mode: form.get('mode'),
        ...(slug !== null && { newest: { [slug]: form.get('version') } }),
      })
      return changedPage()
    },
  }
}
