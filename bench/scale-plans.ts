/** Records the statements that a round sends, and how PostgreSQL executes them. */
import pg from 'pg'

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Total Time'?: number
  readonly Plans?: readonly PlanNode[]
}

/** A table with this many rows is read entirely only by mistake. */
const largeRows = 5000
const recorded = new Map<string, Statement>()
let recording = false

/** From now on records the queries of this process. */
export function recordQueries(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const query: (...given: unknown[]) => unknown = pg.Client.prototype.query
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [text, values] = given
    if (recording && typeof text === 'string' && /^\s*(?:select|update|delete|with)\b/i.test(text))
      if (!recorded.has(text)) recorded.set(text, { text, values: (values as unknown[]) ?? [] })
    return query.apply(this, given)
  } as typeof pg.Client.prototype.query
}

/** The statements that `work` sends, each once, with the values of its first use. */
export async function statementsOf(work: () => Promise<unknown>): Promise<Statement[]> {
  recorded.clear()
  recording = true
  try {
    await work()
  } finally {
    recording = false
  }
  return [...recorded.values()]
}

const printsPlans = process.env['PLANS'] !== undefined

/** Prints how a statement reached each of its tables, by which index, in one line. */
function printPlan(text: string, plan: PlanNode): void {
  const reads: string[] = []
  const walk = (node: PlanNode): void => {
    const { 'Relation Name': table, 'Index Name': index, 'Actual Rows': rows } = node
    if (table !== undefined || index !== undefined)
      reads.push(
        `${node['Node Type']}${index === undefined ? '' : ` by ${index}`}` +
          `${table === undefined ? '' : ` of ${table}`} (${rows ?? 0} rows)`,
      )
    node.Plans?.forEach(walk)
  }
  walk(plan)
  console.log(`        ${text.replaceAll(/\s+/g, ' ').trim().slice(0, 150)}`)
  console.log(`          ${(plan['Actual Total Time'] ?? 0).toFixed(1)} ms: ${reads.join('; ')}`)
}

/** Large tables that one of the statements reads sequentially. */
export async function seqScansOf(url: string, statements: readonly Statement[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ relname: string }>(
      'select relname from pg_class where reltuples > $1',
      [largeRows],
    )
    const large = new Set(rows.map(({ relname }) => relname))
    const found = new Set<string>()
    const walk = (node: PlanNode): void => {
      const table = node['Relation Name']
      if (node['Node Type'] === 'Seq Scan' && table !== undefined && large.has(table))
        found.add(table)
      node.Plans?.forEach(walk)
    }
    for (const { text, values } of statements) {
      await client.query('begin')
      try {
        const plan = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          `explain (analyze, buffers, format json) ${text}`,
          [...values],
        )
        const [row] = plan.rows
        if (!row) continue
        const { Plan: root } = row['QUERY PLAN'][0]
        walk(root)
        if (printsPlans) printPlan(text, root)
      } finally {
        await client.query('rollback')
      }
    }
    return [...found]
  } finally {
    await client.end()
  }
}
