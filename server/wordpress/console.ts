/**
 * The console of a server: commands of WP-CLI, validated by the contract's table and run in the
 * site's PHP on the machine that has it, one at a time. Each is kept in a history.
 */
import { sql } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import * as api from '../../contract/wordpress-console.ts'
import type { Command, CommandOutcome, PastCommand } from '../../contract/wordpress-console.ts'
import { dropOld } from '../platform/batches.ts'
import { later, minutes, type Clock } from '../platform/clock.ts'
import { databaseError, transaction, type Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import { givenBy, help } from './command-answer.ts'
import type { AddressStep, CommandResult, ToolFault, WordpressDriver } from './driver.ts'
import { ownSite, type SiteRow } from './store.ts'
import { hasUpdateUnderWay } from './update-store.ts'

export interface ConsoleDeps {
  readonly db: Database
  readonly clock: Clock
  readonly driver: Pick<WordpressDriver, 'console'>
  /** Limits the commands per server. */
  readonly commands: Limit
}

/** Deletes commands of every server that are older than the history is kept. */
export const dropOldCommands = (db: Database, clock: Clock): Promise<unknown> =>
  dropOld(db, clock, 'site_command')
const shownCommands = 100
/** Longer than any command takes: a command without an end after this was cut off. */
const lostAfter = minutes(5)
/** Longest time of all steps of a search-replace together, ms. */
const stepsMs = 60_000

const refuse = (field: 'command' | 'confirmed', sentence: string): Refusal =>
  new Refusal('invalid_input', { fields: { [field]: sentence } })

/** The command, if it may be run. Otherwise refuses with invalid_input. */
function judged(line: string, confirmed: boolean, language: Language): Command {
  const command = api.parseCommand(line)
  if ('fault' in command) throw refuse('command', api.faultText(command, language))
  if (api.asksFirst(command) && !confirmed && command.flags['yes'] === undefined)
    throw refuse('confirmed', ruleText('command_unconfirmed', language))
  return command
}

/** Records that the command runs. Refuses with conflict while another one runs. */
async function begin(
  { db, clock }: ConsoleDeps,
  of: { id: string; site: SiteRow; address: string; command: Command; language: Language },
): Promise<void> {
  const now = clock.now()
  try {
    await transaction(db, async (tx) => {
      await tx
        .updateTable('site_command')
        .set({ ended_at: now, outcome: 'lost' })
        .where('site_id', '=', of.site.id)
        .where('ended_at', 'is', null)
        .where('began_at', '<', later(now, -lostAfter))
        .execute()
      await tx
        .insertInto('site_command')
        .values({
          id: of.id,
          site_id: of.site.id,
          customer_id: of.site.customer_id,
          address: of.address,
          command: api.masked(of.command),
          began_at: now,
        })
        .execute()
    })
  } catch (error) {
    const { constraint } = databaseError(error) ?? {}
    if (constraint !== 'site_command_running' && constraint !== 'site_command_pkey') throw error
    const rule = constraint === 'site_command_running' ? 'command_running' : 'command_came_before'
    throw new Refusal('conflict', { fields: { command: ruleText(rule, of.language) } })
  }
}

async function end({ db, clock }: ConsoleDeps, id: string, outcome: CommandOutcome): Promise<void> {
  await db
    .updateTable('site_command')
    .set({ ended_at: clock.now(), outcome })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute()
}

/** Runs the command, in steps where its verb works in steps. */
async function run(
  { driver }: ConsoleDeps,
  siteId: string,
  { verb, args, flags }: Command,
): Promise<CommandResult | ToolFault> {
  const order = { verb: verb.name, args, flags }
  const isReplace = verb.name === 'search-replace'
  const counts = new Map<string, number>()
  const messages = new Set<string>()
  const until = performance.now() + stepsMs
  let after: AddressStep['after'] = null
  for (;;) {
    const step = await driver.console(siteId, { ...order, after })
    if ('fault' in step || !step.ok || !isReplace) return step
    for (const [table = '', count] of step.rows)
      counts.set(table, (counts.get(table) ?? 0) + Number(count))
    for (const message of step.messages) messages.add(message)
    after = step.after
    if (after !== null && performance.now() < until) continue
    const sum = [...counts.values()].reduce((all, count) => all + count, 0)
    const isOnlyCounted = flags['dry-run'] !== undefined
    const did = isOnlyCounted ? `${sum} replacements to be made.` : `Made ${sum} replacements.`
    if (after === null) messages.add(`Success: ${did}`)
    else messages.add(`Error: Stopped after ${stepsMs / 1_000} s at table ${after.table}. ${did}`)
    if (flags['format'] === 'count')
      return { ...step, ok: after === null, messages: [], columns: [], value: String(sum) }
    const rows = [...counts].map(([table, count]) => [table, String(count)])
    return { ...step, ok: after === null, messages: [...messages], rows }
  }
}

export function consoleRoutes(http: Http, deps: ConsoleDeps): void {
  const { db, commands } = deps
  http.act(api.runCommand, async ({ customerId, params, body, language, ip, actionId }) => {
    const site = await ownSite(db, customerId, params.id)
    if (site.status !== 'running') throw new Refusal('server_not_running')
    const command = judged(body.command, body.confirmed ?? false, language)
    const began = performance.now()
    const typed = api.masked(command)
    if (command.verb.name === 'help')
      return { command: typed, ms: 0, ...help(command.args, language) }
    // An update compares the site's pages before and after: a command in between would change them.
    if (command.verb.changes !== 'nothing' && (await hasUpdateUnderWay(db, site.id)))
      throw new Refusal('update_in_progress')
    await commands.take(site.id)
    await begin(deps, { id: actionId, site, address: ip, command, language })
    let outcome: CommandOutcome = 'lost'
    try {
      const given = givenBy(command, await run(deps, site.id, command), language)
      outcome = given.outcome
      return { command: typed, ms: Math.round(performance.now() - began), ...given }
    } finally {
      await end(deps, actionId, outcome)
    }
  })

  http.read(api.commandHistory, async ({ customerId, params }) => {
    const site = await ownSite(db, customerId, params.id)
    const rows = await db
      .selectFrom('site_command')
      .select(['id', 'command', 'address', 'began_at', 'outcome'])
      .select(
        sql<number | null>`round(extract(epoch from ended_at - began_at) * 1000)::int`.as('ms'),
      )
      .where('site_id', '=', site.id)
      .orderBy('began_at', 'desc')
      .limit(shownCommands)
      .execute()
    return rows.map(({ id, command, address, began_at: at, outcome, ms }) => ({
      id,
      command,
      address,
      at: at.toISOString(),
      outcome: outcome as PastCommand['outcome'],
      ms,
    }))
  })
}
