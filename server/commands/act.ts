import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { actNames, type ActName } from '../../contract/operator-acts.ts'
import { errorText } from '../../contract/errors.ts'
import type { Config } from '../config.ts'
import {
  carryOut,
  commandActor,
  endpointOf,
  listActs,
  perform,
  verifyTrail,
  wantedOf,
} from '../operator/index.ts'
import { connect, isUuid, transaction } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { openDeskTools, type DeskTools } from './desk-tools.ts'
import type { Output } from './output.ts'

const usage =
  'npm run portal -- act <name> --<field> <value> … --reason <text> [--key <key> | --again] ' +
  '[--dry-run] [--json]'
const shownActs = 50

/** A key of its own says that an act is meant once more, though an equal one was done. */
export const keyOfAnother = (): string => `again-${randomUUID()}`

/** `--name value` pairs and the flags; undefined: the line is invalid. */
export function pairsOf(
  words: readonly string[],
): { fields: Record<string, string>; dryRun: boolean } | undefined {
  const fields: Record<string, string> = {}
  let dryRun = false
  for (let at = 0; at < words.length; at++) {
    const [word = '', value] = words.slice(at, at + 2)
    if (word === '--dry-run') dryRun = true
    else if (word === '--again') fields['key'] ??= keyOfAnother()
    else if (/^--[a-z][a-zA-Z]*$/.test(word) && value !== undefined) {
      fields[word.slice(2)] = value
      at++
    } else return undefined
  }
  return { fields, dryRun }
}

/** A file may exceed the shell's limit for an argument: `--file @path` reads it from the path. */
const textOf = (field: string, text: string): string =>
  field === 'file' && text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text

/** Converts an argument to the type of the field's schema: a number, or a comma-separated list. */
function valueFor(schema: z.core.$ZodType | undefined, text: string): unknown {
  if (!schema) return text
  // `50.000` is fifty to a program, but fifty thousand in Vietnamese notation: it is refused.
  const number = String(Number(text)) === text ? [Number(text)] : []
  const candidates = [text, ...number, text.split(',')]
  return candidates.find((value) => z.core.safeParse(schema, value).success) ?? text
}

/** Thrown to roll back a dry run's transaction. */
class RolledBack extends Error {}

/**
 * `act`: performs the desk's act of this name, as the actor `command`. Without a name: lists the
 * names. Answers 1 if it is refused.
 */
export async function actCommand(
  config: Config,
  databaseUrl: string,
  [name, ...words]: readonly string[],
  out: Output,
): Promise<number> {
  if (name === undefined) {
    for (const each of actNames) out.line(`${each.padEnd(30)} ${endpointOf(each)?.summary}`)
    out.fields({ acts: actNames })
    return 0
  }
  const endpoint = endpointOf(name)
  const pairs = pairsOf(words)
  if (!endpoint || !pairs) {
    out.refuse(endpoint ? usage : `There is no act ${name}. Their names: npm run portal -- act`)
    return 64
  }
  const { shape } = endpoint.body as unknown as { shape: Record<string, z.core.$ZodType> }
  const given = Object.fromEntries(
    Object.entries(pairs.fields).map(([field, text]) => [
      field,
      valueFor(shape[field], textOf(field, text)),
    ]),
  )
  const read = z.core.safeParse(endpoint.body, given, { reportInput: true })
  if (!read.success) {
    const fields = Object.keys(shape)
      .map((field) => `--${field}`)
      .join(' ')
    const wrong = read.error.issues.map(({ path, code }) => `${path.join('.')}: ${code}`)
    out.refuse(`${name} takes ${fields}. ${wrong.join(', ')}`)
    return 64
  }
  const tools = await openDeskTools(config, databaseUrl)
  try {
    const wanted = wantedOf(name as ActName, read.data as { reason?: string; key?: string })
    return await performAsCommand(tools, wanted, pairs.dryRun, out)
  } finally {
    await tools.close()
  }
}

/** A command's own wording of its act's result, instead of the usual lines. */
export interface OwnWords {
  done(outcome: CommandOutcome): void
  /**
   * The exit code of a refusal that the command words itself; undefined: print the usual sentence.
   */
  refused?(refusal: Refusal): number | undefined
}
export type CommandOutcome = Awaited<ReturnType<typeof perform>>

/** Runs the act behind another command. */
export async function actFor(
  config: Config,
  databaseUrl: string,
  name: ActName,
  input: Readonly<Record<string, unknown>> & { readonly reason: string; readonly key?: string },
  out: Output,
  words?: OwnWords,
): Promise<number> {
  const tools = await openDeskTools(config, databaseUrl)
  try {
    return await performAsCommand(tools, wantedOf(name, input), false, out, words)
  } finally {
    await tools.close()
  }
}

const longestReason = 500
/**
 * The trail's reason for a command: `--reason`, or the default if it is missing. Undefined: too
 * short or too long for the trail.
 */
export function reasonOf(given: string | undefined, otherwise: string): string | undefined {
  const reason = (given ?? otherwise).trim()
  return reason.length < 3 || reason.length > longestReason ? undefined : reason
}

/** Performs an act, or only tries it; prints the result, and answers the exit code. */
export async function performAsCommand(
  tools: DeskTools,
  wanted: Parameters<typeof perform>[3],
  dryRun: boolean,
  out: Output,
  words?: OwnWords,
): Promise<number> {
  try {
    let outcome: CommandOutcome | undefined
    try {
      await transaction(tools.db, async (tx) => {
        outcome = await perform(tx, tools, commandActor, wanted)
        if (!dryRun) return
        // An act that needs a second member is carried out too, and rolled back, in order to show
        // its changes.
        if (outcome.state === 'proposed' && !outcome.repeated)
          outcome = { ...(await carryOut(tx, tools, commandActor, wanted)), state: 'proposed' }
        throw new RolledBack()
      })
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error
    }
    if (words && !dryRun && outcome?.state === 'done') {
      words.done(outcome)
      out.fields({ act: outcome.act })
      return 0
    }
    return tell(outcome, dryRun, out)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const code = words?.refused?.(error)
    if (code !== undefined) return code
    const why = Object.values(error.fieldsIn('en') ?? {})
    out.refuse(why.length > 0 ? why.join(' ') : errorText(error.code, 'en'))
    return 1
  }
}

function tell(outcome: CommandOutcome | undefined, dryRun: boolean, out: Output): number {
  if (!outcome) return 70
  const { told, secret, ...rest } = outcome
  const once = { ...told, ...(secret !== undefined && { secret }) }
  const { state, act, proposal, before, after } = rest
  if (dryRun) out.line(`Nothing was changed. It would be ${state}.`)
  else if (state === 'proposed')
    out.line(`It waits for a member of the staff to approve it: proposal ${proposal}.`)
  else out.line(`Done${rest.repeated ? ' before, under this key' : ''}: act ${act}.`)
  if (rest.approvers === 0)
    out.line('Nobody may approve it yet: invite an owner (npm run portal -- act staff.invite …).')
  if (before) out.line(`before  ${JSON.stringify(before)}`)
  if (after) out.line(`after   ${JSON.stringify(after)}`)
  // After a dry run a link leads nowhere and a secret signs nothing: do not print them.
  if (!dryRun) for (const [what, text] of Object.entries(once)) out.line(`${what}  ${text}`)
  out.fields({ ...rest, ...(dryRun ? { dryRun, act: null } : once) })
  return 0
}

/** `acts list`: the newest fifty; `acts verify`: answers 1 if the chain is broken. */
export async function actsCommand(
  _config: Config,
  databaseUrl: string,
  [verb = 'list', ...words]: readonly string[],
  out: Output,
): Promise<number> {
  const pairs = pairsOf(words)
  const customer = pairs?.fields['customer']
  const isSound = verb === 'verify' ? words.length === 0 : verb === 'list' && pairs !== undefined
  if (!isSound || (customer !== undefined && !isUuid(customer))) {
    out.refuse('npm run portal -- acts [list [--customer <id>] | verify] [--json]')
    return 64
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    if (verb === 'verify') {
      const { acts, head, findings } = await verifyTrail(db)
      for (const { seq, fault } of findings) out.line(`act ${seq}: ${fault}`)
      out.line(`${acts} acts, ${findings.length} findings. Newest: ${head || '-'}`)
      out.fields({ acts, head, findings })
      return findings.length === 0 ? 0 : 1
    }
    const { rows } = await listActs(
      db,
      { limit: shownActs, before: null },
      { customerId: customer },
    )
    for (const row of rows)
      out.line(
        `${row.seq}  ${row.at}  ${row.actor}${row.approvedBy ? ` with ${row.approvedBy}` : ''}  ` +
          `${row.act}  ${row.subject.kind} ${row.subject.id}  ${row.reason ?? ''}`,
      )
    out.fields({ acts: rows })
    return 0
  } finally {
    await close()
  }
}
