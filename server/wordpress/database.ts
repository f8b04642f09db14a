/**
 * Lets a server's owner browse and change its database, through WordPress's own access to it on the
 * machine that runs the site.
 */
import type { Language } from '../../contract/errors.ts'
import { ruleText, type RuleKey } from '../../contract/server-sentences.ts'
import * as api from '../../contract/wordpress-database.ts'
import type { Cell } from '../../contract/wordpress-database.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Caller, Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import { enter, giveTicket, leave, openUntil } from './database-access.ts'
import type {
  DatabaseAnswer,
  DatabaseOp,
  DatabaseOrders,
  DatabaseResults,
  ShownRows,
  WordpressDriver,
} from './driver.ts'
import { ownSite, type SiteRow } from './store.ts'
import { hasUpdateUnderWay } from './update-store.ts'

export interface DatabaseDeps {
  readonly db: Database
  readonly clock: Clock
  readonly driver: Pick<WordpressDriver, 'database'>
  /** Refuses, at the given field, a password that is not the customer's. */
  readonly prove: (
    customerId: string,
    password: string,
    field: 'password',
    language: Language,
  ) => Promise<unknown>
  /** Limits the requests to a server's database. */
  readonly acts: Limit
}

const shownBytes = 200
const exportBytes = 200_000
const exportedAtOnce = 500

export function databaseRoutes(http: Http, deps: DatabaseDeps): void {
  const { db, clock, driver, acts } = deps

  async function own(from: Queryable, customerId: string, id: string): Promise<SiteRow> {
    const site = await ownSite(from, customerId, id)
    if (site.status !== 'running') throw new Refusal('server_not_running')
    return site
  }
  const known = (caller: Caller | undefined): Caller => {
    if (!caller) throw new Refusal('unauthenticated')
    return caller
  }
  /** A server whose database this sign-in has opened; refuses otherwise. */
  async function opened(
    customerId: string,
    caller: Caller | undefined,
    id: string,
  ): Promise<SiteRow> {
    const site = await own(db, customerId, id)
    const until = await openUntil(db, clock, { siteId: site.id, caller: known(caller) })
    if (until === null) throw new Refusal('link_expired')
    await acts.take(site.id)
    return site
  }
  /** An update compares pages before and after: a change in between would spoil that. */
  async function mayChange({ id }: SiteRow): Promise<void> {
    if (await hasUpdateUnderWay(db, id)) throw new Refusal('update_in_progress')
  }
  async function ask<Op extends DatabaseOp>(
    { id }: SiteRow,
    op: Op,
    order: DatabaseOrders[Op],
    { language, field = 'table' }: { language: Language; field?: string },
  ): Promise<DatabaseResults[Op]> {
    const answer: DatabaseAnswer<Op> = await driver.database(id, op, order)
    const refuse = (sentence: string): Refusal =>
      new Refusal('invalid_input', { fields: { [field]: sentence } })
    if ('fault' in answer) {
      const rule: RuleKey = answer.fault === 'slow' ? 'database_slow' : 'database_broken'
      throw refuse(`${ruleText(rule, language)} ${answer.why}`.trim())
    }
    if (!answer.ok || !answer.data)
      throw refuse(answer.messages.join(' ') || ruleText('database_broken', language))
    return answer.data
  }
  const shown = ({ columns, rows, isCut }: ShownRows): api.Rows => ({
    columns: [...columns],
    rows: rows.map((row) => [...row]),
    isCut,
  })

  http.write(
    api.openDatabase,
    async ({ customerId, params, body, language }) => {
      const site = await own(db, customerId, params.id)
      await deps.prove(customerId, body.password, 'password', language)
      return site
    },
    async ({ tx, caller, prepared: site }) => ({
      ticket: await giveTicket(tx, clock, { siteId: site.id, caller: known(caller) }),
    }),
  )
  http.write(api.enterDatabase, async ({ tx, customerId, caller, params, body }) => {
    const site = await own(tx, customerId, params.id)
    const of = { siteId: site.id, caller: known(caller), ticket: body.ticket }
    return { until: (await enter(tx, clock, of)).toISOString() }
  })
  http.read(api.databaseState, async ({ customerId, caller, params }) => {
    const site = await own(db, customerId, params.id)
    const until = await openUntil(db, clock, { siteId: site.id, caller: known(caller) })
    return { until: until?.toISOString() ?? null }
  })
  http.write(api.leaveDatabase, async ({ tx, customerId, caller, params }) => {
    const site = await own(tx, customerId, params.id)
    await leave(tx, { siteId: site.id, caller: known(caller) })
    return null
  })

  http.read(api.listTables, async ({ customerId, caller, params, language }) => {
    const site = await opened(customerId, caller, params.id)
    const { tables } = await ask(site, 'tables', {}, { language })
    return tables.map((table) => ({ ...table }))
  })
  http.read(api.describeTable, async ({ customerId, caller, params, query, language }) => {
    const site = await opened(customerId, caller, params.id)
    const { columns, keys } = await ask(site, 'columns', { table: query.table }, { language })
    return {
      columns: columns.map((column) => ({ ...column })),
      keys: keys.map((key) => ({ ...key, columns: [...key.columns] })),
    }
  })
  http.read(api.listRows, async ({ customerId, caller, params, query, language }) => {
    const site = await opened(customerId, caller, params.id)
    const { column, how = 'is', value = '' } = query
    const answer = await ask(
      site,
      'rows',
      {
        table: query.table,
        offset: query.offset ?? 0,
        limit: api.rowsOnPage,
        cellBytes: shownBytes,
        sort: query.sort ?? '',
        descends: query.descends === '1',
        filter: column === undefined ? null : { column, how, value },
        reveals: query.reveals === '1',
      },
      { language },
    )
    return { ...shown(answer), total: answer.total }
  })
  http.act(api.readRow, async ({ customerId, caller, params, body, language }) => {
    const site = await opened(customerId, caller, params.id)
    return shown(await ask(site, 'row', body, { language }))
  })
  http.act(api.changeRow, async ({ customerId, caller, params, body, language }) => {
    const site = await opened(customerId, caller, params.id)
    await mayChange(site)
    const order = {
      table: body.table,
      change: body.change,
      key: body.key ?? {},
      values: body.values ?? {},
      expected: body.expected ?? {},
    } as const
    const { former, inserted } = await ask(site, 'change', order, { language, field: 'values' })
    return { former: former && { ...former }, inserted }
  })
  http.act(api.runStatement, async ({ customerId, caller, params, body, language }) => {
    const site = await opened(customerId, caller, params.id)
    const judged = api.judgeStatement(body.sql)
    const refuse = (rule: RuleKey): Refusal =>
      new Refusal('invalid_input', { fields: { sql: ruleText(rule, language) } })
    if (!('sql' in judged)) throw refuse(`statement_${judged.kind}`)
    if (judged.kind === 'writes' && !body.allowsChanges) throw refuse('statement_writes')
    if (judged.kind === 'writes') await mayChange(site)
    const began = performance.now()
    const order = {
      sql: judged.sql,
      reads: judged.kind === 'reads',
      limit: api.mostStatementRows,
      reveals: body.reveals ?? false,
    } as const
    const answer = await ask(site, 'sql', order, { language, field: 'sql' })
    const ms = Math.round(performance.now() - began)
    return { ...shown(answer), changed: answer.changed, ms }
  })
  http.file(api.exportTable, async ({ customerId, caller, params, query, language }) => {
    const site = await opened(customerId, caller, params.id)
    const { table } = query
    const rowsFrom = (offset: number) =>
      ask(
        site,
        'rows',
        {
          table,
          offset,
          limit: exportedAtOnce,
          cellBytes: exportBytes,
          sort: '',
          descends: false,
          filter: null,
          reveals: query.reveals === '1',
        },
        { language },
      )
    const first = await rowsFrom(0)
    if (first.total > api.mostExportedRows)
      throw new Refusal('invalid_input', {
        fields: { table: ruleText('export_too_large', language) },
      })
    return {
      name: `${table.replaceAll(/[^\w.-]/g, '_')}.csv`,
      type: 'text/csv; charset=utf-8',
      chunks: csvOf(first, rowsFrom),
    }
  })
}

const field = (cell: Cell): string => {
  if (cell === null) return ''
  const value = cell.kind === 'hex' ? `0x${cell.value}` : cell.value
  const has = cell.kind === 'hex' ? cell.value.length / 2 : Buffer.byteLength(value)
  // An export with a truncated value would pass for complete; a download that breaks off is
  // noticed.
  if (cell.kind !== 'masked' && has < cell.bytes)
    throw new Error('a value is larger than an export holds')
  // A quote in front keeps a spreadsheet from computing values that begin like a formula (OWASP,
  // CSV injection).
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
/** Writes CSV (RFC 4180), page by page. */
async function* csvOf(
  first: ShownRows & { readonly total: number },
  rowsFrom: (offset: number) => Promise<ShownRows>,
): AsyncIterable<string> {
  const names = first.columns.map((name) => field({ kind: 'text', value: name, bytes: 0 }))
  yield `\uFEFF${names.join(',')}\r\n`
  let offset = 0
  for (let page: ShownRows = first; page.rows.length > 0; page = await rowsFrom(offset)) {
    yield page.rows.map((row) => `${row.map(field).join(',')}\r\n`).join('')
    offset += page.rows.length
    if (offset >= first.total) return
  }
  if (offset < first.total) throw new Error('a row is larger than an answer')
}
