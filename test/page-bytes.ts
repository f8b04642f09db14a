/**
 * How much each screen loads, counted on the build in dist/web: the entry, what the server tells
 * the browser to fetch with it, and one language's texts.
 */
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'

const root = path.resolve(import.meta.dirname, '..')
const build = path.join(root, 'dist/web')
/** Bytes after gzip -9. */
const gzipped = (file: string): number =>
  gzipSync(readFileSync(path.join(build, file)), { level: 9 }).length

interface Chunk {
  readonly file: string
  readonly imports?: readonly string[]
  readonly isEntry?: boolean
}

/** JavaScript of every route in its largest language, bytes after gzip. */
export function scriptBytes(): { route: string; bytes: number }[] {
  const manifest = JSON.parse(
    readFileSync(path.join(build, '.vite/manifest.json'), 'utf8'),
  ) as Record<string, Chunk>
  const preload = JSON.parse(readFileSync(path.join(build, 'preload.json'), 'utf8')) as Record<
    string,
    { files: string[]; texts: Record<string, string[]> }
  >
  const fileOf = (name: string): string => name.replace(/^\//, '')
  const keyOf = new Map(Object.entries(manifest).map(([key, { file }]) => [file, key]))
  const withImports = (key: string, into: Set<string>): Set<string> => {
    const chunk = manifest[key]
    if (!chunk || into.has(chunk.file)) return into
    into.add(chunk.file)
    for (const next of chunk.imports ?? []) withImports(next, into)
    return into
  }
  const entry = Object.keys(manifest).find((key) => manifest[key]?.isEntry) ?? ''
  const always = [...withImports(entry, new Set()), 'theme.js']
  return Object.entries(preload).map(([route, { files, texts }]) => {
    const screen = [...always, ...files.map(fileOf)]
    const languages = ['en', 'vi'].map((language) => [
      ...withImports(`i18n/${language}.ts`, new Set()),
      ...(texts[language] ?? []).flatMap((file) => [
        ...withImports(keyOf.get(fileOf(file)) ?? file, new Set()),
      ]),
    ])
    const bytes = languages.map((own) =>
      [...new Set([...screen, ...own])]
        .filter((file) => file.endsWith('.js'))
        .reduce((sum, file) => sum + gzipped(file), 0),
    )
    return { route, bytes: Math.max(...bytes) }
  })
}

/**
 * Style of every page, bytes after gzip: the inlined style, and the style sheets that the page
 * names.
 */
export function styleBytes(): number {
  const html = readFileSync(path.join(build, 'index.html'), 'utf8')
  const sheets = readdirSync(path.join(build, 'assets')).filter(
    (file) => file.endsWith('.css') && html.includes(file),
  )
  const inline = [...html.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g)].map(
    ([, style = '']) => gzipSync(style).length,
  )
  return [...inline, ...sheets.map((file) => gzipped(`assets/${file}`))].reduce(
    (sum, bytes) => sum + bytes,
    0,
  )
}

/** Bytes of both fonts as they are sent. */
export const fontBytes = (): number =>
  readdirSync(path.join(build, 'assets'))
    .filter((file) => file.endsWith('.woff2'))
    .reduce((sum, file) => sum + readFileSync(path.join(build, 'assets', file)).length, 0)
