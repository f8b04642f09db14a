import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod/mini'
import { formatMoney } from '../../contract/money.ts'
import {
  importActs,
  previewCustomerImport,
  type CustomerImport,
} from '../../contract/operator-imports.ts'
import type { Config } from '../config.ts'
import { listImports } from '../customer-import/index.ts'
import { commandActor, previewImport, wantedOf } from '../operator/index.ts'
import { transaction } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { performAsCommand, reasonOf } from './act.ts'
import { openDeskTools, type DeskTools } from './desk-tools.ts'
import type { Output } from './output.ts'

const usage =
  'npm run portal -- customers import <file.csv> [--dry-run] [--letters] [--reason <text>] | ' +
  'customers imports [--json]'

interface Options {
  readonly file: string
  readonly dryRun: boolean
  readonly letters: boolean
  readonly reason: string
}
function optionsOf(words: readonly string[]): Options | undefined {
  let file: string | undefined
  let given: string | undefined
  const flags = new Set<string>()
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--dry-run' || word === '--letters') flags.add(word)
    else if (word === '--reason') given = words[++at] ?? ''
    else if (!word.startsWith('--') && file === undefined) file = word
    else return undefined
  }
  const reason = reasonOf(given, 'Customers brought over from another panel')
  if (file === undefined || reason === undefined) return undefined
  return { file, reason, dryRun: flags.has('--dry-run'), letters: flags.has('--letters') }
}

/**
 * `customers import`: previews a file and imports it, by the act customers.import; with --dry-run
 * it only previews. `customers imports`: how imports stand. Answers 1 for a file with a bad row.
 */
export async function customersCommand(
  config: Config,
  databaseUrl: string,
  [verb, ...words]: readonly string[],
  out: Output,
): Promise<number> {
  const options = verb === 'import' ? optionsOf(words) : undefined
  if (!options && !(verb === 'imports' && words.length === 0)) {
    out.refuse(usage)
    return 64
  }
  const tools = await openDeskTools(config, databaseUrl)
  try {
    return options ? await importFile(tools, options, out) : await sayImports(tools, out)
  } finally {
    await tools.close()
  }
}

async function importFile(tools: DeskTools, options: Options, out: Output): Promise<number> {
  const read = previewCustomerImport.body.safeParse({
    fileName: path.basename(options.file),
    file: readFileSync(options.file, 'utf8'),
  })
  if (!read.success) {
    out.refuse(z.prettifyError(read.error))
    return 1
  }
  let seen
  try {
    seen = await transaction(tools.db, (tx) =>
      previewImport(tx, tools, commandActor, { ...read.data, language: 'en' }),
    )
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    out.refuse(Object.values(error.fieldsIn('en') ?? {}).join(' '))
    return 1
  }
  const { upload, ...preview } = seen
  out.line(
    `${seen.rows} rows: ${seen.accounts} accounts to create, ${seen.skipped} skipped because ` +
      'their customers are here already.',
  )
  for (const { currency, accounts, amount } of seen.sums)
    out.line(`${currency}: ${accounts} accounts with ${formatMoney(amount, currency, 'en')}.`)
  if (seen.ignored.length > 0) out.line(`Columns that are not read: ${seen.ignored.join(', ')}.`)
  for (const { line, email, text } of seen.skippedRows) out.line(`Line ${line}: ${email}: ${text}`)
  for (const { line, text } of seen.faults) out.line(`Line ${line}: ${text}`)
  if (upload === null) {
    out.fields({ preview })
    out.refuse(
      seen.badRows > 0
        ? `${seen.badRows} rows are bad: nothing is imported.`
        : 'Every customer of this file has an account already: there is nothing to import.',
    )
    return 1
  }
  if (options.dryRun) {
    out.line('Nothing was changed.')
    out.fields({ preview, dryRun: true })
    return 0
  }
  const { reason, letters } = options
  const wanted = importActs['customers.import'].body.parse({
    upload,
    letters: letters ? 'yes' : 'no',
    reason,
  })
  return await performAsCommand(tools, wantedOf('customers.import', wanted), false, out)
}

const stateOf = ({ doneAt, stoppedAt }: CustomerImport): string => {
  if (stoppedAt !== null)
    return 'stopped: the file reads otherwise than it was approved, import it again'
  return doneAt === null ? 'running' : 'done'
}

async function sayImports({ db }: DeskTools, out: Output): Promise<number> {
  const imports = await listImports(db)
  for (const one of imports)
    out.line(
      `${one.id}  ${one.startedAt}  ${one.fileName}  ${one.done} of ${one.rows} rows  ` +
        `${one.created} created  ${one.skipped} skipped  ${one.written} letters  ` +
        `${one.came} came  ${stateOf(one)}`,
    )
  if (imports.length === 0) out.line('Nothing was imported yet.')
  out.fields({ imports })
  return 0
}
