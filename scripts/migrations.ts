/**
 * `node scripts/migrations.ts`: reports what in a new migration would break an older release that
 * still runs beside it, or make all writers of a table wait (decision 51). It only reads the text;
 * docs/operate.md says what it cannot see.
 */
import { thisRelease, migrationOf, type Migration } from '../server/platform/migrations.ts'
import { releaseNumber } from '../server/platform/release.ts'

/** The last migration from before this rule: all portals were stopped for it. */
const lastUnjudged = 47

interface Faults {
  /** What would break an older release; a contract migration of a later release may do it. */
  readonly breaks: string[]
  /** What makes writers wait, or the migration fail: it must always be done in another way. */
  readonly blocks: string[]
}

interface Statement {
  /**
   * The statement in lower case, with single spaces, without comments and the content of strings.
   */
  readonly text: string
  /** Dollar-quoted texts: the body of a function or of a `do`. */
  readonly bodies: readonly string[]
}

const token = new RegExp(
  [
    /--[^\n]*|\/\*[\s\S]*?\*\//,
    /\be'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'/,
    /"[^"]*"/,
    /\$(\w*)\$[\s\S]*?\$\1\$/,
    /;/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
)

function statementsOf(sql: string): Statement[] {
  const found: { text: string; bodies: string[] }[] = [{ text: '', bodies: [] }]
  let end = 0
  const add = (text: string): void => {
    const last = found.at(-1)
    if (last) last.text += text
  }
  for (const match of sql.matchAll(token)) {
    const [part] = match
    add(sql.slice(end, match.index))
    end = match.index + part.length
    if (part === ';') found.push({ text: '', bodies: [] })
    else if (part.startsWith('"')) add(part.slice(1, -1))
    else if (part.startsWith('$')) {
      add('$$')
      found.at(-1)?.bodies.push(part.toLowerCase())
    } else add(part.startsWith('-') || part.startsWith('/') ? ' ' : "''")
  }
  add(sql.slice(end))
  return found
    .map(({ text, bodies }) => ({
      text: text
        .toLowerCase()
        .replaceAll(/\s+/g, ' ')
        .replaceAll(/ ?([(),]) ?/g, '$1')
        .replaceAll(/\bpublic\./g, '')
        .trim(),
      bodies,
    }))
    .filter(({ text }) => text !== '')
}

/** Splits at commas outside parentheses. */
function partsOf(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const char of text) {
    if (char === '(') depth++
    if (char === ')') depth--
    if (char === ',' && depth === 0) parts.push('')
    else parts.push(`${parts.pop() ?? ''}${char}`)
  }
  return parts.map((part) => part.trim())
}

/** The text without parentheses and their content. */
function flat(text: string): string {
  const once = text.replaceAll(/\([^()]*\)/g, ' ')
  return once === text ? text : flat(once)
}

const constraint = /^add (?:constraint|check|unique|primary key|foreign key|exclude|not null)\b/
/**
 * A default that differs from row to row is written into every row, under a lock on the whole
 * table.
 */
const perRow =
  /\b(?:small|big)?serial\b|\bgenerated\b|\bdefault .*(?:random|uuid\w*|clock_timestamp|nextval)\(/

function judgeAction(action: string, { breaks, blocks }: Faults): void {
  const outside = flat(action)
  if (/^drop (?!constraint\b)/.test(action)) breaks.push('drops a column')
  if (/^rename (?!constraint\b)/.test(action)) breaks.push('renames a table or column')
  if (/^set schema\b/.test(action)) breaks.push('moves a table')
  if (/^disable (?:trigger|rule)\b/.test(action)) breaks.push('disables a trigger')
  if (/^alter (?:column )?\S+ (?:set data )?type\b/.test(action))
    breaks.push("alters a column's type")
  if (/^alter (?:column )?\S+ set not null\b/.test(action)) breaks.push('sets a column not null')
  if (/^alter (?:column )?\S+ drop (?:default|identity|expression)\b/.test(action))
    breaks.push("drops a column's default")
  if (constraint.test(action)) {
    if (!/\bnot valid$/.test(action) && !/\busing index\b/.test(action))
      blocks.push(
        /\b(?:unique|primary key|exclude)\b/.test(outside)
          ? 'adds a constraint that makes an index: make it concurrently, then `using index`'
          : 'adds a constraint without `not valid`',
      )
  } else if (action.startsWith('add ')) {
    if (/\bnot null\b/.test(outside) && !/\bdefault\b|\bgenerated\b|serial\b/.test(outside))
      breaks.push('adds a column that is not null and has no default')
    if (perRow.test(action)) blocks.push('adds a column that is written into every row')
    if (/\b(?:check|unique|primary key)\b/.test(outside))
      blocks.push('adds a column with a constraint: add it by itself, `not valid`')
  }
}

const createdTable = /^create (?:unlogged |temp |temporary )?table (?!if )([\w.]+)/
const concurrently = /^create (?:unique )?index concurrently\b/
const repeatable = new RegExp(
  '^(?:create (?:unique )?index concurrently if not exists \\w+ on' +
    '|drop index concurrently if exists)\\b',
)
const hidden = /\b(?:alter|create|drop|execute|lock|rename|truncate)\b/

/** Name, arguments and result of the function that a statement creates. */
function signatureOf(text: string): { name: string; signature: string } | undefined {
  const [, name, rest = ''] =
    /^create (?:or replace )?(?:function|procedure) ([\w.]+)(\(.*)$/.exec(text) ?? []
  if (name === undefined) return undefined
  let depth = 0
  const end = [...rest].findIndex((char) => {
    if (char === '(') depth++
    if (char === ')') depth--
    return depth === 0
  })
  const [returns = ''] =
    /\breturns .*?(?= ?(?:language|as|immutable|stable|volatile|strict|begin|return) ?\b)/.exec(
      rest.slice(end + 1),
    ) ?? []
  return { name, signature: `${rest.slice(0, end + 1)}${returns}` }
}

function judgeStatement(
  { text, bodies }: Statement,
  created: ReadonlySet<string>,
  functions: ReadonlyMap<string, string>,
  faults: Faults,
): void {
  const { breaks, blocks } = faults
  const [, table, actions] =
    /^alter table (?:if exists )?(?:only )?([\w.]+)(?: \*)? (.*)$/.exec(text) ?? []
  if (table !== undefined && !created.has(table))
    for (const action of partsOf(actions ?? '')) judgeAction(action, faults)

  const [, dropped, name] =
    /^drop (materialized view|\w+) (?:concurrently )?(?:if exists )?([\w.]+)/.exec(text) ?? []
  if (dropped !== undefined && !created.has(name ?? '')) breaks.push(`drops the ${dropped} ${name}`)
  if (/^alter (?!table\b|index\b).* rename\b/.test(text)) breaks.push('renames what it alters')

  const made = signatureOf(text)
  const before = made && functions.get(made.name)
  if (before !== undefined && before !== made?.signature)
    breaks.push(`changes the signature of the function ${made?.name}`)

  const [, indexed] =
    /^create (?:unique )?index (?:if not exists )?(?:\w+ )?on (?:only )?([\w.]+)/.exec(text) ?? []
  if (indexed !== undefined && !created.has(indexed))
    blocks.push('makes an index without `concurrently`')
  if (/^(?:truncate|lock|cluster|vacuum full)\b/.test(text) || isWholeRewrite(text))
    blocks.push('locks a whole table')
  if (/^(?:begin|start|commit|end|rollback|abort)\b/.test(text))
    blocks.push('ends or begins a transaction: each file is one')
  if (/^do\b/.test(text) && bodies.some((body) => hidden.test(body)))
    blocks.push('changes the schema in a `do`, which this check cannot read')
}

const isWholeRewrite = (text: string): boolean =>
  /^(?:reindex|refresh materialized view)\b/.test(text) && !/ concurrently\b/.test(text)

/**
 * The faults of a new migration, one sentence each. `earlier`: the migrations before it, whose
 * functions have signatures and whose names are taken.
 */
export function faultsOf(
  { name, text }: Pick<Migration, 'name' | 'text'>,
  earlier: readonly Pick<Migration, 'name' | 'text'>[],
): string[] {
  let header
  try {
    header = migrationOf(name, text)
  } catch (error) {
    return [(error as Error).message]
  }
  const statements = statementsOf(text)
  const created = new Set(statements.flatMap((one) => createdTable.exec(one.text)?.[1] ?? []))
  const functions = new Map<string, string>()
  for (const one of earlier.flatMap((each) => statementsOf(each.text))) {
    const made = signatureOf(one.text)
    if (made) functions.set(made.name, made.signature)
  }

  const faults: Faults = { breaks: [], blocks: [] }
  for (const one of statements) judgeStatement(one, created, functions, faults)
  const said: string[] = [...faults.blocks]
  // Together they hold the table's lock while all its rows are checked.
  if (
    statements.some((one) => / validate constraint /.test(one.text)) &&
    (statements.length > 1 || partsOf(statements[0]?.text ?? '').length > 1)
  )
    said.push('validates a constraint beside other statements: do it in a file of its own')
  if (statements.some((one) => concurrently.test(one.text)) && header.inTransaction)
    said.push('makes an index concurrently: it needs the header `-- no-transaction`')
  if (!header.inTransaction && (statements.length !== 1 || !repeatable.test(statements[0]!.text)))
    said.push(
      'has `-- no-transaction`, so it holds one statement that may be repeated: ' +
        '`create index concurrently if not exists` or `drop index concurrently if exists`',
    )
  if (header.contract === undefined)
    said.push(...faults.breaks.map((what) => `${what}, and is no contract`))
  else if (header.oldestRelease === 1)
    said.push('has `-- contract:` and does not say which release is the oldest that may run')
  if (header.oldestRelease > releaseNumber)
    said.push(`demands release ${header.oldestRelease}, and this one is ${releaseNumber}`)
  if (/^--\s*(?:oldest.?release|no.?transaction|contract)\s*(?:[:\d]|$)/im.test(unread(text)))
    said.push('has a header that is misspelt, or stands below the head of the file')
  if (earlier.some((each) => each.name.slice(0, 4) === name.slice(0, 4)))
    said.push('has the number of another one')
  return said
}

/** The text without the header lines that `readHeader` reads. */
function unread(text: string): string {
  const lines = text.split('\n')
  const head = lines.findIndex((line) => !line.startsWith('--'))
  const isHeader = /^-- (?:oldest-release: \d+|contract: \S.*|no-transaction)$/
  return lines.filter((line, index) => index >= head || !isHeader.test(line)).join('\n')
}

if (import.meta.main) {
  const { migrations } = await thisRelease()
  for (const [index, migration] of migrations.entries()) {
    if (Number(migration.name.slice(0, 4)) <= lastUnjudged) continue
    for (const fault of faultsOf(migration, migrations.slice(0, index))) {
      process.stdout.write(`server/migrations/${migration.name}.sql ${fault}.\n`)
      process.exitCode = 1
    }
  }
}
