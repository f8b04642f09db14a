/**
 * The answer of a console command in the format that was asked for, and help, which the portal
 * gives itself.
 */
import {
  type Command,
  type CommandOutcome,
  type ConsoleAnswer,
} from '../../contract/wordpress-console.ts'
import { everywhere, verbs, type Verb } from '../../contract/wordpress-verbs.ts'
import type { Language } from '../../contract/errors.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import type { CommandResult, ToolFault } from './driver.ts'

export type Given = Omit<ConsoleAnswer, 'command' | 'ms'>

const nothing: Given = { outcome: 'done', messages: [], table: null, text: null, isCut: false }

/** One field of CSV (RFC 4180). */
const csvField = (value: string): string =>
  /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
const csv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map(csvField).join(',')).join('\n')

const objectOf = (columns: readonly string[], row: readonly string[]): Record<string, string> =>
  Object.fromEntries(columns.map((name, index) => [name, row[index] ?? '']))
function json({ columns, rows, isRecord }: CommandResult): string {
  if (!isRecord) return JSON.stringify(rows.map((row) => objectOf(columns, row)))
  return JSON.stringify(Object.fromEntries(rows.map(([name = '', value = '']) => [name, value])))
}

/** A list in the format that the command names; a table where it names none. */
function shown(result: CommandResult, { flags }: Command): Pick<Given, 'table' | 'text'> {
  const { columns, rows, value } = result
  if (columns.length === 0) return { table: null, text: value }
  const first = rows.map(([id = '']) => id)
  if (flags['field'] !== undefined) return { table: null, text: first.join('\n') }
  switch (flags['format']) {
    case 'json':
      return { table: null, text: json(result) }
    case 'csv':
      return { table: null, text: csv([columns, ...rows]) }
    case 'ids':
      return { table: null, text: first.join(' ') }
    case 'count':
      return { table: null, text: String(rows.length) }
    default:
      return { table: { columns: [...columns], rows: rows.map((row) => [...row]) }, text: value }
  }
}

/** WP-CLI's own words are English in every language; what the portal says itself is translated. */
export function givenBy(
  command: Command,
  result: CommandResult | ToolFault,
  language: Language,
): Given {
  if ('fault' in result) {
    const isSlow = result.fault === 'slow'
    const why = result.why === '' ? '' : ` ${result.why}`
    const outcome: CommandOutcome = isSlow ? 'slow' : 'broken'
    const sentence = ruleText(isSlow ? 'command_slow' : 'command_broken', language)
    return { ...nothing, outcome, messages: [`Error: ${sentence}${why}`] }
  }
  return {
    outcome: result.ok ? 'done' : 'failed',
    messages: [...result.messages],
    isCut: result.isCut,
    ...shown(result, command),
  }
}

const usage = ({ name, synopsis }: Verb): string => `wp ${name} ${synopsis}`.trim()

/** Help on all commands, on those of a group, or on the syntax of one. */
export function help(words: readonly string[], language: Language): Given {
  const asked = words.join(' ')
  const verb = verbs.find(({ name }) => name === asked)
  if (verb)
    return {
      ...nothing,
      text: `${verb.text[language]}\n\n  ${usage(verb)}\n\n  ${everywhere}`,
    }
  const group = verbs.filter(({ name }) => asked === '' || name.startsWith(`${asked} `))
  if (group.length === 0)
    return {
      ...nothing,
      outcome: 'failed',
      messages: [`Error: ${ruleText('command_unknown', language)}`],
    }
  return {
    ...nothing,
    table: {
      columns: language === 'vi' ? ['Lệnh', 'Công dụng'] : ['Command', 'What it does'],
      rows: group.map(({ name, text }) => [name, text[language]]),
    },
  }
}
