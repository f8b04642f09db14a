/** Builds the front end to dist/web, and tells the server which chunks each address needs. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, type ProxyOptions } from 'vite'
import { precompress } from './vite-precompress.js'

const here = import.meta.dirname
const origin = process.env['PORTAL_ORIGIN'] ?? 'http://127.0.0.1:8080'

interface Chunk {
  type: 'chunk'
  fileName: string
  facadeModuleId: string | null
  moduleIds: string[]
  imports: string[]
}
interface Asset {
  type: 'asset'
  fileName: string
  source: string | Uint8Array
}
type Bundle = Record<string, Chunk | Asset>

/** Matches whatever one of these matches. */
const anyOf = (expressions: readonly RegExp[]): RegExp =>
  new RegExp(expressions.map(({ source }) => source).join('|'))

/** Address patterns, the file of each and its text groups, parsed from the table in routes.tsx. */
function screens(): { pattern: string; file: string; groups: string[] }[] {
  const table = readFileSync(resolve(here, 'routes.tsx'), 'utf8')
  const found = table.matchAll(
    new RegExp(
      /path: '([^']+)'(?:(?!createRoute)[\s\S])*?/.source +
        /screen\(\(\) => import\('\.\/([^']+)'\)((?:,\s*'\w+')*)/.source,
      'g',
    ),
  )
  return [...found].map(([, pattern = '', file = '', groups = '']) => ({
    pattern,
    file,
    groups: [...groups.matchAll(/'(\w+)'/g)].map(([, group = '']) =>
      group.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    ),
  }))
}
const languages = ['en', 'vi', 'aud'] as const

const chunks = (bundle: Bundle): Chunk[] =>
  Object.values(bundle).filter((part) => part.type === 'chunk')

/** A chunk and everything that it imports. */
function withImports(bundle: Bundle, name: string, seen = new Set<string>()): Set<string> {
  const chunk = bundle[name]
  if (seen.has(name) || chunk?.type !== 'chunk') return seen
  seen.add(name)
  for (const next of chunk.imports) withImports(bundle, next, seen)
  return seen
}

const chunkOf = (bundle: Bundle, file: string): Chunk | undefined =>
  chunks(bundle).find((chunk) => chunk.moduleIds.includes(resolve(here, file)))

/**
 * dist/web/preload.json: { "/wordpress/:id": { files: ["/assets/…js"], texts: { vi:
 * ["/assets/…js"], … } }, … }: what to preload in addition to what index.html names.
 */
function preloadMap(): Plugin {
  return {
    name: 'preload-map',
    apply: 'build',
    generateBundle(_options, raw) {
      const bundle = raw as unknown as Bundle
      const entry = chunks(bundle).find(
        (chunk) =>
          chunk.facadeModuleId?.endsWith('index.html') ||
          chunk.moduleIds.includes(resolve(here, 'main.tsx')),
      )
      const known = entry ? withImports(bundle, entry.fileName) : new Set<string>()
      // Australian English uses the English texts, except where it has a file of its own.
      const textFile = (language: string, group: string) =>
        (language === 'aud' ? chunkOf(bundle, `i18n/aud-${group}.ts`) : undefined) ??
        chunkOf(bundle, `i18n/${language === 'aud' ? 'en' : language}-${group}.ts`)
      const map: Record<string, { files: string[]; texts: Record<string, string[]> }> = {}
      for (const { pattern, file, groups } of screens()) {
        const chunk = chunkOf(bundle, file)
        if (!chunk) throw new Error(`routes.tsx names ${file}, which is in no chunk`)
        const needed = [...withImports(bundle, chunk.fileName)].filter((name) => !known.has(name))
        map[pattern.replace(/\$(\w+)/g, ':$1')] = {
          files: needed.map((name) => `/${name}`),
          texts: Object.fromEntries(
            languages.map((language) => [
              language,
              groups.map((group) => `/${textFile(language, group)?.fileName ?? ''}`),
            ]),
          ),
        }
      }
      this.emitFile({
        type: 'asset',
        fileName: 'preload.json',
        source: JSON.stringify(map, null, 2),
      })
    },
  }
}

/**
 * Prepares the page itself: inlines the style (which saves a round trip), and names the fonts and
 * language files early.
 */
function fastPage(): Plugin {
  return {
    name: 'fast-page',
    apply: 'build',
    enforce: 'post',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle: raw }) {
        if (!raw) return html
        const bundle = raw as unknown as Bundle
        const sheet = Object.values(bundle).find(
          (part): part is Asset =>
            part.type === 'asset' && part.fileName.endsWith('.css') && html.includes(part.fileName),
        )
        const fonts = Object.keys(bundle)
          .filter((name) => name.endsWith('.woff2'))
          .map(
            (name) =>
              `<link rel="preload" as="font" type="font/woff2" crossorigin href="/${name}">`,
          )
        const languageFiles = Object.fromEntries(
          languages.map((code) => [
            code,
            `/${chunkOf(bundle, `i18n/${code === 'aud' ? 'en' : code}.ts`)?.fileName ?? ''}`,
          ]),
        )
        const meta = `<meta name="language-files" content='${JSON.stringify(languageFiles)}'>`
        const page = html.replace('<!-- language-files -->', () => [meta, ...fonts].join('\n    '))
        return sheet
          ? page.replace(
              /<link[^>]*rel="stylesheet"[^>]*>/,
              () => `<style>${String(sheet.source)}</style>`,
            )
          : page
      },
    },
  }
}

/** The order success page is a screen, although its address begins with /api. */
const screenUnderApi = '/api/payments/success'
const toPortal: ProxyOptions = {
  target: origin,
  ws: true,
  bypass: (request) => (request.url?.split('?')[0] === screenUnderApi ? '/index.html' : undefined),
}

/** The part of a syntax tree that the transform below reads. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}
interface EndpointCall extends Node {
  readonly callee?: { readonly name?: string }
  readonly arguments?: readonly (Node & {
    readonly properties?: readonly (Node & { readonly key?: { readonly name?: string } })[]
  })[]
}

/** Fields of an endpoint that only the server and the API's document use. */
const unusedByPages: ReadonlySet<string | undefined> = new Set([
  'result',
  'summary',
  'scope',
  'narrows',
  'whileClosed',
  'seen',
  'member',
])

/**
 * Removes the result schemas of endpoints: pages do not validate answers, and these schemas would
 * be a tenth of our code on each page.
 */
function withoutResults(): Plugin {
  return {
    name: 'without-results',
    apply: 'build',
    enforce: 'post',
    transform(code, id) {
      if (!/[\\/]contract[\\/][\w-]+\.ts$/.test(id)) return undefined
      const found: Node[] = []
      const look = (value: unknown): void => {
        if (typeof value !== 'object' || value === null) return
        const node = value as EndpointCall
        if (node.type === 'CallExpression' && node.callee?.name === 'endpoint')
          for (const property of node.arguments?.[0]?.properties ?? [])
            if (unusedByPages.has(property.key?.name)) found.push(property)
        for (const inner of Object.values(value)) look(inner)
      }
      look(this.parse(code))
      // From the end to the beginning, so that earlier positions stay valid.
      const shorter = found.reduceRight(
        (text, { start, end }) => text.slice(0, start) + text.slice(end).replace(/^\s*,/, ''),
        code,
      )
      return found.length === 0 ? undefined : { code: shorter, map: null }
    },
  }
}

export default defineConfig({
  root: here,
  plugins: [react(), tailwind(), withoutResults(), preloadMap(), fastPage(), precompress()],
  resolve: {
    alias: [
      // The name by which lucide's icons import it.
      { find: '../createLucideIcon.mjs', replacement: resolve(here, 'ui/lucide-icon.ts') },
    ],
  },
  server: {
    // The desk is served as built.
    proxy: {
      '/operator': toPortal,
      '/api': toPortal,
      '/apps': toPortal,
      '/app/': toPortal,
      '/healthz': toPortal,
    },
  },
  build: {
    outDir: resolve(here, '../dist/web'),
    emptyOutDir: true,
    manifest: true,
    // The one style is inlined in the page: a chunk with a stylesheet of its own would fetch it
    // again and have every rule matched twice.
    cssCodeSplit: false,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // The contract's objects are made by calls without side effects, so unused ones are removed.
      treeshake: { manualPureFunctions: ['endpoint', 'oneLine', 'z'] },
      output: {
        // The first chunk names all others, and hashes do not compress: seven characters are enough
        // to tell the versions of one file apart.
        chunkFileNames: 'assets/[name]-[hash:7].js',
        codeSplitting: {
          groups: [
            {
              name: 'vendor',
              test: anyOf([
                /node_modules[\\/](react|react-dom|scheduler|@tanstack|use-sync-external-store)/,
                /node_modules[\\/](seroval|seroval-plugins|cookie-es|isbot)/,
              ]),
              priority: 10,
            },
            // Few files, because each takes a turn on one of the browser's six connections. What
            // the first frame needs stays in the entry chunk. What several screens share is in one
            // more chunk. What only one screen uses is in that screen's chunk.
            {
              name: 'shared',
              test: anyOf([
                /node_modules[\\/](zod|lucide-react)/,
                new RegExp(
                  /[\\/]contract[\\/](?!account|billing|cards|device|dns|lock|payments|person)/
                    .source +
                    '(?!phone|pricing|registration|second|session|status|text|wordpress)' +
                    '(?!page-cache|member-|team|hand-over)',
                ),
                new RegExp(
                  /[\\/]web[\\/](?!i18n[\\/](en|vi)|(form|drafts|choose-language|resume)\.ts)/
                    .source +
                    /(?!(account|auth|dns|invoices|security|status|support|wordpress)[\\/])/
                      .source +
                    /(?!team[\\/]|programs[\\/][Cc]ho)/.source +
                    /(?!ui[\\/](CodeInput|NumberField|RadioCard|Stepper))/.source +
                    /(?!ui[\\/](Checkbox|CopyButton|LoadMore|Segmented|Switch))/.source +
                    /(?!list-search|ui[\\/]SearchField)/.source +
                    /(?!wallet[\\/]EmptyWallet|shell[\\/](idle-lock|Typed)|tabs\.ts)/.source +
                    /(?!payments[\\/](card-|Card)|.*(Page|PagedCard|Tab|DiskPicker)\.tsx)/.source,
                ),
              ]),
              minShareCount: 3,
              priority: 8,
            },
            // Read when the channel opens, which is after the page.
            { name: 'events', test: /[\\/]contract[\\/]events\.ts/, priority: 9 },
            // The first chunk names each screen's chunk, so these few small files are combined.
            {
              name: 'team',
              test: /[\\/]web[\\/](team[\\/]([a-z-]+\.ts|RoleNote\.tsx)$|i18n[\\/](en|vi)-team)/,
              priority: 9,
              includeDependenciesRecursively: false,
            },
            // Texts that differ where money is in Australian dollars: a few words per screen.
            {
              name: 'aud',
              test: /[\\/]i18n[\\/]aud-/,
              priority: 9,
              includeDependenciesRecursively: false,
            },
            // Screens that read servers need both.
            {
              name: 'servers',
              test: /[\\/](contract[\\/]wordpress|web[\\/]wordpress[\\/]queries)\.ts/,
              priority: 9,
              includeDependenciesRecursively: false,
            },
            // Code that only the ordering screens need, and code that only the screens of existing
            // things need. Neither kind of screen loads the other's, and the first frame's code
            // stays out of both.
            {
              name: 'ordering',
              test: /[\\/]web[\\/]ui[\\/](NumberField|RadioCard|Stepper)|contract[\\/]pricing/,
              minShareCount: 2,
              priority: 7,
              includeDependenciesRecursively: false,
            },
            {
              name: 'lists',
              test: /[\\/]web[\\/]ui[\\/](LoadMore|PagedCard)/,
              minShareCount: 2,
              priority: 7,
              includeDependenciesRecursively: false,
            },
            {
              name: 'search',
              test: /[\\/]web[\\/](list-search|ui[\\/]SearchField|i18n[\\/](en|vi)-list-search)/,
              minShareCount: 2,
              priority: 7,
              includeDependenciesRecursively: false,
            },
            {
              name: 'domains',
              test: /[\\/]web[\\/]dns[\\/](DomainBadge|load-part|queries|wording)/,
              minShareCount: 2,
              priority: 7,
              includeDependenciesRecursively: false,
            },
            {
              name: 'forms',
              test: /[\\/]web[\\/](form|drafts)\.ts/,
              minShareCount: 2,
              priority: 7,
              includeDependenciesRecursively: false,
            },
            {
              name: 'controls',
              test: /[\\/]web[\\/]ui[\\/](Checkbox|CopyButton|Segmented|Switch)/,
              minShareCount: 2,
              priority: 7,
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
})
