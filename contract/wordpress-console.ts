/**
 * The console of a server: reading and checking a command line of WP-CLI's verbs, and its result.
 */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'
import type { Language } from './errors.ts'
import { formOfVerb, verbs, type Flag, type Verb } from './wordpress-verbs.ts'

export const mostCommandLength = 16_000

export interface Command {
  readonly verb: Verb
  readonly args: readonly string[]
  readonly flags: Readonly<Record<string, string | true>>
}

export type CommandFault =
  | { readonly fault: 'empty' | 'quote' | 'control' | 'many' }
  | { readonly fault: 'verb'; readonly typed: string; readonly near: string }
  | { readonly fault: 'outside'; readonly flag: string }
  | { readonly fault: 'flag'; readonly flag: string; readonly near: string | undefined }
  | { readonly fault: 'needsValue' | 'noValue'; readonly flag: string }
  | { readonly fault: 'value'; readonly flag: string; readonly values: readonly string[] }
  | { readonly fault: 'few'; readonly name: string }

/** Splits a line into words as a shell does. No other shell syntax has a meaning here. */
export function wordsOf(line: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const sign = line[at] ?? ''
    const next = line[at + 1]
    if (sign === '\\' && quote !== "'" && next !== undefined) {
      // Within double quotes a backslash is literal, unless it escapes the next character.
      word = (word ?? '') + (quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next)
      at++
    } else if (quote !== '') {
      if (sign === quote) quote = ''
      else word = (word ?? '') + sign
    } else if (sign === '"' || sign === "'") {
      quote = sign
      word ??= ''
    } else if (/\s/.test(sign)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + sign
  }
  if (quote !== '') return undefined
  if (word !== undefined) words.push(word)
  return words
}

/** The edit distance of two texts. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++)
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1),
      )
    row = next
  }
  return row[other.length] ?? 0
}
const nearest = (typed: string, names: readonly string[]): string | undefined =>
  names
    .map((name) => ({ name, away: distance(typed.toLowerCase().slice(0, 60), name) }))
    .toSorted((a, b) => a.away - b.away)[0]?.name

function verbOf(words: readonly string[]): Verb | undefined {
  for (let count = 3; count > 0; count--) {
    const found = verbs.find(({ name }) => name === words.slice(0, count).join(' '))
    if (found && words.length >= count) return found
  }
  return undefined
}
function nearestVerb(words: readonly string[]): string {
  const names = verbs.map(({ name }) => name)
  const group = names.filter((name) => name.split(' ')[0] === words[0])
  return nearest(words.slice(0, 3).join(' '), group.length > 0 ? group : names) ?? 'help'
}

/**
 * Parameters that WP-CLI accepts everywhere and that would reach files, programs or other sites.
 */
const outside = new Set(
  'path url ssh http user require exec eval context prompt debug color quiet allow-root'.split(' '),
)
/** A smaller edit distance counts as a typing mistake. */
const slip = 4

function flagOf(
  word: string,
  known: readonly Flag[],
): CommandFault | { readonly name: string; readonly value: string | true } {
  const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? []
  const flag = known.find((one) => one.name === name)
  if (!flag) {
    if (outside.has(name)) return { fault: 'outside', flag: name }
    const near = nearest(
      name,
      known.map((one) => one.name),
    )
    const isSlip = near !== undefined && distance(name.slice(0, 60), near) < slip
    return { fault: 'flag', flag: name.slice(0, 60), near: isSlip ? near : undefined }
  }
  if (flag.values === undefined)
    return value === undefined ? { name, value: true } : { fault: 'noValue', flag: name }
  if (value === undefined) return { fault: 'needsValue', flag: name }
  if (flag.values.length > 0 && !flag.values.includes(value))
    return { fault: 'value', flag: name, values: flag.values }
  return { name, value }
}

/** Reads a command; `wp` before it may be left out. */
export function parseCommand(line: string): Command | CommandFault {
  if (line.includes('\0')) return { fault: 'control' }
  const all = wordsOf(line)
  if (!all) return { fault: 'quote' }
  const words = all[0] === 'wp' ? all.slice(1) : all
  if (words.length === 0) return { fault: 'empty' }
  const plain = words.filter((word) => !word.startsWith('--'))
  const verb = verbOf(plain)
  if (!verb) {
    // `--info` and the like: a flag without a command.
    const typed = (plain.length > 0 ? plain : words).slice(0, 3).join(' ').slice(0, 80)
    return { fault: 'verb', typed, near: nearestVerb(plain) }
  }
  const form = formOfVerb(verb)
  const args = plain.slice(verb.name.split(' ').length)
  const flags: Record<string, string | true> = {}
  for (const word of words.filter((one) => one.startsWith('--'))) {
    const flag = flagOf(word, form.flags)
    if ('fault' in flag) return flag
    flags[flag.name] = flag.value
  }
  const needed = form.positionals.filter(({ isNeeded }) => isNeeded)
  const missing = needed[args.length]
  if (missing) return { fault: 'few', name: missing.name }
  if (args.length > form.positionals.length && form.positionals.at(-1)?.isMany !== true)
    return { fault: 'many' }
  return { verb, args, flags }
}

/** Whether the command needs a confirmation. */
export const asksFirst = ({ verb, flags }: Command): boolean =>
  verb.changes === 'much' && flags['dry-run'] === undefined

type Sentence = Readonly<Record<Language, string>>
const plain: Readonly<Record<'empty' | 'quote' | 'control' | 'many', Sentence>> = {
  empty: {
    en: 'Type a command, such as “plugin list”.',
    vi: 'Hãy nhập một lệnh, ví dụ “plugin list”.',
  },
  quote: { en: 'A quotation mark is not closed.', vi: 'Thiếu dấu nháy đóng.' },
  control: {
    en: 'The command holds a character that cannot be typed.',
    vi: 'Lệnh chứa ký tự không hợp lệ.',
  },
  many: {
    en: 'There are more words than this command takes. Put a text with spaces in quotation marks.',
    vi: 'Lệnh có nhiều từ hơn mức cần thiết. Hãy đặt văn bản có dấu cách trong dấu nháy.',
  },
}
function sentenceOf(of: CommandFault): Sentence {
  switch (of.fault) {
    case 'verb':
      return {
        en:
          `There is no command “${of.typed}” here. The nearest is “${of.near}”; “help” lists ` +
          'all of them.',
        vi:
          `Ở đây không có lệnh “${of.typed}”. Lệnh gần nhất là “${of.near}”; gõ “help” để xem ` +
          'tất cả.',
      }
    case 'outside':
      return {
        en: `--${of.flag} is not possible here: the console runs commands on this site alone.`,
        vi: `Không dùng được --${of.flag} ở đây: lệnh chỉ chạy trên trang web này.`,
      }
    case 'flag':
      return of.near === undefined
        ? { en: `This command has no --${of.flag}.`, vi: `Lệnh này không có --${of.flag}.` }
        : {
            en: `This command has no --${of.flag}. Did you mean --${of.near}?`,
            vi: `Lệnh này không có --${of.flag}. Có phải bạn muốn dùng --${of.near}?`,
          }
    case 'needsValue':
      return {
        en: `--${of.flag} needs a value: --${of.flag}=…`,
        vi: `--${of.flag} cần có giá trị: --${of.flag}=…`,
      }
    case 'noValue':
      return {
        en: `--${of.flag} takes no value.`,
        vi: `--${of.flag} không nhận giá trị.`,
      }
    case 'value': {
      const values = of.values.join(', ')
      return {
        en: `--${of.flag} is one of: ${values}.`,
        vi: `--${of.flag} phải là một trong: ${values}.`,
      }
    }
    case 'few':
      return { en: `<${of.name}> is missing.`, vi: `Thiếu <${of.name}>.` }
    default:
      return plain[of.fault]
  }
}
export const faultText = (of: CommandFault, language: Language): string => sentenceOf(of)[language]

/** Whole words that could replace the last word of a line. */
export function completionsOf(line: string): readonly string[] {
  const words = line
    .replace(/^\s*wp(?=\s)/, '')
    .trimStart()
    .split(/\s+/)
  const last = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const verb = verbOf(before.filter((word) => !word.startsWith('--')))
  if (last.startsWith('--')) {
    const known = verb ? formOfVerb(verb).flags : []
    const used = new Set(before.map((word) => word.replace(/=.*/, '')))
    return known
      .flatMap(({ name, values }) => {
        if (values === undefined) return [`--${name}`]
        return last.startsWith(`--${name}=`)
          ? values.map((value) => `--${name}=${value}`)
          : [`--${name}=`]
      })
      .filter((one) => one.startsWith(last) && !used.has(one.replace(/=.*/, '')))
  }
  const begun = before.join(' ')
  const next = verbs.flatMap(({ name }) => {
    const rest = begun === '' ? name : name.replace(`${begun} `, '')
    const isOn = begun === '' || name.startsWith(`${begun} `)
    return isOn ? [rest.split(' ')[0] ?? ''] : []
  })
  return [...new Set(next)].filter((word) => word.startsWith(last) && word !== last)
}

const quoted = (word: string): string =>
  /^[\w.,:/@%+=*-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
const secret = /pass|secret|token|(?:^|_)(?:key|auth|salt)(?:_|$)|api_?key/i
const hidden = '***'

/** Also masks inside a word, where a quote or a backslash has joined two words into one. */
const shown = (word: string): string => quoted(word.replace(/(--user_pass=).*$/s, `$1${hidden}`))

/** The command as the history stores it: without passwords. */
export function masked({ verb, args, flags }: Command): string {
  const isSecret = verb.name === 'option update' && secret.test(args[0] ?? '')
  return [
    verb.name,
    ...args.map((arg, index) => (isSecret && index === 1 ? hidden : shown(arg))),
    ...Object.entries(flags).map(([name, value]) => {
      if (value === true) return `--${name}`
      return `--${name}=${name === 'user_pass' ? hidden : shown(value)}`
    }),
  ].join(' ')
}

export const commandOutcomes = ['done', 'failed', 'slow', 'broken', 'lost'] as const
/**
 * `failed`: the command reported an error. `slow`: it exceeded its time and was ended. `broken`:
 * the site's own code ended it or corrupted its output. `lost`: the outcome is unknown, because the
 * portal stopped meanwhile.
 */
export type CommandOutcome = (typeof commandOutcomes)[number]

export const ConsoleAnswer = z.object({
  /** The command as the history stores it. */
  command: z.string(),
  outcome: z.enum(commandOutcomes),
  /** In WP-CLI's words: `Success: …`, `Warning: …`, `Error: …`. */
  messages: z.array(z.string()),
  /** A list or one record, where the format is a table. */
  table: z.nullable(z.object({ columns: z.array(z.string()), rows: z.array(z.array(z.string())) })),
  /** Output that is no table: a value, or a list in another format. */
  text: z.nullable(z.string()),
  /** True: the output was too long and was cut. */
  isCut: z.boolean(),
  ms: z.int(),
})
export type ConsoleAnswer = z.output<typeof ConsoleAnswer>

export const runCommand = endpoint({
  method: 'POST',
  path: '/api/wp/:id/console',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary:
    'Run one command of WP-CLI on a server, one at a time. Those that delete, and search-replace ' +
    'without --dry-run, want `confirmed` or --yes',
  params: idParam,
  body: z.strictObject({
    command: z.string().check(z.maxLength(mostCommandLength)),
    confirmed: z.optional(z.boolean()),
  }),
  result: ConsoleAnswer,
})

export const PastCommand = z.object({
  id: z.string(),
  /** Without passwords. */
  command: z.string(),
  at: z.string(),
  /** Null: the command is running. */
  outcome: z.nullable(z.enum(commandOutcomes)),
  ms: z.nullable(z.int()),
  /** The IP address of whoever ran it. */
  address: z.string(),
})
export type PastCommand = z.output<typeof PastCommand>

/** Open to `write` only: a stored command may have contained a password. */
export const commandHistory = endpoint({
  method: 'GET',
  path: '/api/wp/:id/console/history',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'The newest commands of a server, at most 100: by whom, when, and how they ended',
  params: idParam,
  result: z.array(PastCommand),
})
