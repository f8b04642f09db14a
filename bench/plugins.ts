/**
 * What works of popular plugins and themes: stand-ins of our own with the same demands on a host,
 * on a real site behind an edge that keeps its pages. Six pages or acts each, judged by what the
 * visitor sees, the database, and the cache. Writes the tables of docs/plugins.md. `ONLY=shop,seo`
 * runs only these and writes nothing. `REAL=<folder>` instead runs those of
 * bench/plugin-acts-real.ts that are in plugins/ and themes/ of the folder, or come with WordPress.
 * `RUNTIME=docker` runs the site in containers, with MariaDB.
 */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { withoutEngine } from '../test/docker-engine.ts'
import { ensureImages } from '../test/docker-wordpress.ts'
import { openPageCacheWorld } from '../test/page-cache-world.ts'
import { block, classic, events, forum, languages } from './plugin-acts-content.ts'
import { real } from './plugin-acts-real.ts'
import { containers } from './plugin-containers.ts'
import { contactForm, seo, shop } from './plugin-acts-shop.ts'
import { backup, pageBuilder, pageCache, security } from './plugin-acts-upkeep.ts'
import { JudgedSite, type Act, type PluginUnderTest } from './plugin-judge.ts'
import { report } from './portal.ts'

const plugins = [shop, seo, contactForm, pageBuilder, backup, security, pageCache, languages]
const all = [...plugins, forum, events, classic, block]
const document = path.join(import.meta.dirname, '../docs/plugins.md')

interface Row {
  readonly plugin: PluginUnderTest
  readonly act: Act
  readonly status: number | null
  readonly cache: string
  /** What went wrong; undefined where it works. */
  readonly fault?: string
}

/** Files below a folder of bench/fixtures, by their path in wp-content. */
function fixtureFiles(folder: 'plugins' | 'themes'): Record<string, string> {
  const root = path.join(import.meta.dirname, 'fixtures', folder)
  const found: Record<string, string> = {}
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    found[path.join(folder, path.relative(root, file))] = readFileSync(file, 'utf8')
  }
  return found
}

async function judge(site: JudgedSite, plugin: PluginUnderTest): Promise<Row[]> {
  const rows: Row[] = []
  try {
    await site.put(plugin.kind, plugin.folder, true)
  } catch (error) {
    const fault = `it cannot be switched on: ${error instanceof Error ? error.message : ''}`
    const { driver, spec } = site.world
    for (const { text } of await driver.log(spec.id).tail(5)) console.log(`      ${text}`)
    return plugin.acts.map((act) => ({ plugin, act, status: null, cache: '', fault }))
  }
  for (const act of plugin.acts) {
    try {
      rows.push({ plugin, act, ...(await act.run(site)) })
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error)
      rows.push({ plugin, act, status: null, cache: '', fault })
      console.log(`      ${plugin.folder}, ${act.name}: ${fault}`)
    }
  }
  if (plugin.folder === 'security') await site.rest('POST', '/security/v1/off', {})
  if (plugin.kind === 'plugin') await site.put('plugin', plugin.folder, false)
  return rows
}

const isInContainers = process.env['RUNTIME'] === 'docker'
/** Why it cannot be done, if known. */
const whyOf = ({ because, inContainers }: Act): string | undefined =>
  because ?? (isInContainers ? inContainers : undefined)

const titleOf = ({ folder, like }: PluginUnderTest): string =>
  process.env['REAL'] === undefined ? `${folder}: as ${like}` : like

/** The tables and faults of docs/plugins.md. */
function written(rows: readonly Row[]): string {
  const lines: string[] = []
  const faults = rows.filter(({ fault }) => fault !== undefined)
  for (const plugin of new Set(rows.map((row) => row.plugin))) {
    const own = rows.filter((row) => row.plugin === plugin)
    const works = own.filter(({ fault }) => fault === undefined).length
    lines.push(`### ${titleOf(plugin)} (${works} of ${own.length})`, '')
    const cells = [
      ['Page or act', 'Status', 'Cache', 'Works'],
      ...own.map((row) => [
        row.act.name,
        String(row.status ?? ''),
        row.cache,
        row.fault === undefined ? 'yes' : `no (${faults.indexOf(row) + 1})`,
      ]),
    ]
    const widths = cells[0]!.map((_, at) => Math.max(...cells.map((row) => row[at]!.length), 3))
    const line = (row: readonly string[]): string =>
      `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
    lines.push(line(cells[0]!), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`)
    lines.push(...cells.slice(1).map(line), '')
  }
  for (const [index, { plugin, act, fault = '' }] of faults.entries())
    lines.push(
      ...wrapped(`${index + 1}. ${plugin.like}, ${act.name}: ${plainly(whyOf(act) ?? fault)}.`),
    )
  if (faults.length > 0) lines.push('')
  return lines.join('\n')
}

/** A fault's text, escaped for Markdown. */
const plainly = (fault: string): string =>
  fault
    .replaceAll(/<[^>]*>|[`*_|]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 300)
    .replace(/\.$/, '')
/** Wraps a list item to lines of at most 100 columns. */
function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line !== '' && line.length + word.length + 1 > 100) lines.push(`   ${word}`)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

const only = process.env['ONLY']?.split(',')
const own = process.env['REAL']
const candidates = own === undefined ? all : real
const chosen = candidates.filter(({ folder }) => only?.includes(folder) ?? true)
const files = { ...fixtureFiles('plugins'), ...fixtureFiles('themes') }
const why = isInContainers ? (withoutEngine() ?? (await ensureImages())) : undefined
if (why !== undefined) throw new Error(why)
const world = await openPageCacheWorld(
  1,
  own === undefined ? files : {},
  isInContainers ? containers : undefined,
)
const content = path.join(world.folder, 'wp-content')
if (own !== undefined) cpSync(own, content, { recursive: true })
const isThere = ({ kind, folder }: PluginUnderTest): boolean =>
  existsSync(path.join(content, `${kind}s`, folder))
try {
  const site = new JudgedSite(world)
  const rows: Row[] = []
  for (const plugin of chosen.filter(isThere)) rows.push(...(await judge(site, plugin)))
  const works = rows.filter(({ fault }) => fault === undefined).length
  const known = rows.filter(({ fault, act }) => fault !== undefined && whyOf(act) !== undefined)
  const table = written(rows)
  console.log(table)
  report(`pages and acts that work, of ${rows.length}`, works, rows.length - known.length, '', true)
  if (!only) {
    const kind = own === undefined ? 'stand-ins' : 'real ones'
    const name = isInContainers ? `${kind} in containers` : kind
    const text = readFileSync(document, 'utf8')
    const [begin, end] = [`<!-- begin of the ${name} -->\n`, `<!-- end of the ${name} -->\n`]
    const [head = '', rest = ''] = text.split(begin)
    const [, tail = ''] = rest.split(end)
    writeFileSync(document, `${head}${begin}\n${table}\n${end}${tail}`)
  }
} finally {
  await world.close()
}
