import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { formatMoney } from '../../contract/money.ts'
import { acts } from '../../contract/operator-acts.ts'
import {
  catalogAtDesk,
  CatalogFault,
  changesBetween,
  inUse,
  newestNumber,
  loadCatalog,
  originOf,
  parseCatalog,
  sayChange,
  sellingOf,
  textOfVersion,
  versionIn,
  withVersion,
} from '../catalog/index.ts'
import type { Config } from '../config.ts'
import { previewOf, wantedOf } from '../operator/index.ts'
import { connect, type Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { dayInVietnam } from '../platform/vietnam-time.ts'
import { pairsOf, performAsCommand, reasonOf } from './act.ts'
import { openDeskTools, type DeskTools } from './desk-tools.ts'
import type { Output } from './output.ts'

const usage =
  'npm run portal -- catalog [use [--reason <text>] [--key <key>] [--dry-run] | ' +
  'show [<version>] | diff [<version>] | publish --reason <text> [--restores <version>] ' +
  '[--from <moment>] [--base <version>] [--key <key>] [--dry-run]] [--json]'

const fileSays = {
  in_use: 'is in use',
  former: 'is an earlier one, and is not in use',
  would_take_back: 'sells otherwise than the staff published, and is not in use',
}

/**
 * `catalog`: the versions that were in use, newest first. `use`: makes this machine's file the
 * newest version by the act `catalog.use`, even if it was in use before. `show` prints a version's
 * text. `diff` prints the differences between the version in use and another version or this
 * machine's file. `publish`: publishes this machine's file, or an earlier version, by the act
 * `catalog.publish`. The file's base version is in the first line that `show` wrote, or given by
 * `--base`.
 */
export async function catalogCommand(
  config: Config,
  databaseUrl: string,
  [verb, ...more]: readonly string[],
  out: Output,
): Promise<number> {
  if (verb === 'publish') return await publish(config, databaseUrl, more, out)
  if (verb === 'use') return await activate(config, databaseUrl, more, out)
  const [version] = more
  const takesVersion = verb === 'show' || verb === 'diff'
  const isSound = verb === undefined || (takesVersion && more.length < 2)
  if (!isSound || (version !== undefined && !/^\d{1,9}$/.test(version))) {
    out.refuse(usage)
    return 64
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    if (verb === 'show') return await show(db, version, out)
    if (verb === 'diff') return await diff(db, config, version, out)
    return await list(db, out)
  } catch (error) {
    if (error instanceof CatalogFault) out.refuse(error.message)
    else if (error instanceof Refusal) out.refuse('There is no version that this release can read.')
    else throw error
    return 1
  } finally {
    await close()
  }
}

/** Uses the file as it is: the act `catalog.use`. */
async function activate(
  config: Config,
  databaseUrl: string,
  words: readonly string[],
  out: Output,
): Promise<number> {
  const pairs = pairsOf(words)
  const { reason: why, key, ...others } = pairs?.fields ?? {}
  const origin = originOf(config.DATA_DIR)
  const reason = reasonOf(why, 'the file of this machine, by command')
  if (!pairs || Object.keys(others).length > 0 || reason === undefined) {
    out.refuse(usage)
    return 64
  }
  try {
    loadCatalog(config.CATALOG)
  } catch (error) {
    if (!(error instanceof CatalogFault)) throw error
    out.refuse(error.message)
    return 1
  }
  const tools = await openDeskTools(config, databaseUrl)
  try {
    const file = readFileSync(config.CATALOG, 'utf8')
    const base = await newestNumber(tools.db)
    const input = { file, origin, ...(base !== undefined && { base }), reason, ...(key && { key }) }
    return await performAsCommand(tools, wantedOf('catalog.use', input), pairs.dryRun, out, {
      done({ after }) {
        const version = after?.['version']
        out.line(`${config.CATALOG} is in use, as version ${String(version)}.`)
        out.fields({ version })
      },
    })
  } finally {
    await tools.close()
  }
}

async function list(db: Database, out: Output): Promise<number> {
  const { versions, waiting, failed, files } = await catalogAtDesk(db)
  for (const { version, at, origin, source, publication } of versions) {
    const by = publication ? `${publication.by}: ${publication.reason}` : origin
    out.line(`${version}  since ${at}  ${source}  from ${by}`)
  }
  if (waiting) out.line(`waits until ${waiting.countsAt}  from ${waiting.by}: ${waiting.reason}`)
  if (failed)
    out.line(`did not count on ${failed.countsAt}  from ${failed.by}: what is sold was changed`)
  for (const { origin, state, at, sellsOtherwise } of files) {
    const now = sellsOtherwise
      ? 'sells otherwise than is in use, and will not count at the next start'
      : fileSays[state]
    out.line(`The file of ${origin} ${now} (start of ${at}).`)
  }
  out.fields({ versions, waiting, failed, files })
  return 0
}

async function show(db: Database, version: string | undefined, out: Output): Promise<number> {
  const shown = version === undefined ? (await inUse(db)).version : Number(version)
  const stored = await textOfVersion(db, shown)
  if (stored === undefined) {
    out.refuse(`There is no version ${version}.`)
    return 1
  }
  const text = withVersion(stored, shown)
  out.line(text.trimEnd())
  out.fields({ text })
  return 0
}

async function diff(
  db: Database,
  config: Config,
  version: string | undefined,
  out: Output,
): Promise<number> {
  const present = await inUse(db)
  const text = version === undefined ? null : await textOfVersion(db, Number(version))
  if (text === undefined) {
    out.refuse(`There is no version ${version}.`)
    return 1
  }
  const other =
    text === null ? loadCatalog(config.CATALOG) : parseCatalog(text, `version ${version}`)
  const changes = changesBetween(present.selling, sellingOf(other))
  const what = version === undefined ? config.CATALOG : `Version ${version}`
  if (changes.length === 0) out.line(`${what} sells the same as version ${present.version}.`)
  for (const change of changes) out.line(sayChange(change))
  out.fields({ inUse: present.version, changes })
  return 0
}

/** A bare day begins at midnight in Vietnam, the portal's time zone; seconds may be omitted. */
function momentOf(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) {
    try {
      return dayInVietnam(text).toISOString()
    } catch (error) {
      // An invalid date: the act's schema refuses it.
      if (!(error instanceof RangeError)) throw error
    }
  }
  return text.replace(/(T\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/, '$1:00$2')
}

async function publish(
  config: Config,
  databaseUrl: string,
  words: readonly string[],
  out: Output,
): Promise<number> {
  const pairs = pairsOf(words)
  const known = ['reason', 'restores', 'from', 'base', 'key']
  const { base, restores, from, reason, key } = pairs?.fields ?? {}
  const wrong = Object.keys(pairs?.fields ?? {}).filter((name) => !known.includes(name))
  if (!pairs || wrong.length > 0) {
    out.refuse(usage)
    return 64
  }
  const tools = await openDeskTools(config, databaseUrl)
  try {
    const selling = restores === undefined ? sellingOf(loadCatalog(config.CATALOG)) : undefined
    const looked = selling
      ? versionIn(readFileSync(config.CATALOG, 'utf8'))
      : (await inUse(tools.db)).version
    if (base === undefined && looked === undefined) {
      out.refuse(
        `The first line of ${config.CATALOG} does not say which version it was made from, as a ` +
          'file of `catalog show` does. Say it with --base <version>.',
      )
      return 64
    }
    const read = z.core.safeParse(acts['catalog.publish'].body, {
      base: base === undefined ? looked : Number(base),
      ...(selling ? { selling } : { restores: Number(restores) }),
      ...(from !== undefined && { from: momentOf(from) }),
      reason,
      ...(key !== undefined && { key }),
    })
    if (!read.success) {
      const faults = read.error.issues.map(({ path, code }) => `--${path.join('.')}: ${code}`)
      out.refuse(`${faults.join(', ')}. ${usage}`)
      return 64
    }
    const wanted = wantedOf('catalog.publish', read.data)
    if (pairs.dryRun) await preview(tools, wanted.input as Parameters<typeof previewOf>[2], out)
    return await performAsCommand(tools, wanted, pairs.dryRun, out)
  } catch (error) {
    if (error instanceof CatalogFault) out.refuse(error.message)
    else if (error instanceof Refusal)
      out.refuse(Object.values(error.fieldsIn('en') ?? { code: error.code }).join(' '))
    else throw error
    return 1
  } finally {
    await tools.close()
  }
}

/** Prints the same preview as the desk's page. */
async function preview(
  tools: DeskTools,
  wanted: Parameters<typeof previewOf>[2],
  out: Output,
): Promise<void> {
  const shown = await previewOf(tools.db, tools, wanted)
  for (const change of shown.changes) out.line(sayChange(change))
  for (const { currency, before, after, rises, falls } of shown.currencies) {
    const [was, is] = [before, after].map((sum) => formatMoney(sum, currency, 'en'))
    out.line(`${currency} a month, of those whose price changes: ${was} → ${is}`)
    for (const [way, of] of Object.entries({ rises, falls }))
      if (of.subscriptions > 0)
        out.line(
          `  ${way}: ${of.subscriptions} subscriptions of ${of.customers} customers, ` +
            `renewals from ${of.firstOn} to ${of.lastOn}`,
        )
  }
  for (const { plan, servers } of shown.kept)
    out.line(`${plan} is not sold any more; ${servers} servers keep it at their price`)
  if (shown.letter) out.line(`${shown.letter.en.subject}\n${shown.letter.en.text}`)
  out.fields({ preview: shown })
}
