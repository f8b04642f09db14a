/**
 * Has a container run a tool of the owner's (tool.php of the runtime). The site's own code may
 * print around the answer, or instead of it: the answer stands between two marks, and is validated.
 */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { DriverFailure } from '../../../platform/errors.ts'
import type {
  CommandResult,
  DatabaseAnswer,
  DatabaseOp,
  DatabaseResults,
  ShownRows,
  SiteAddress,
  ToolFault,
} from '../../driver.ts'
import { ask } from './acts.ts'

/** Longest times of the owner's tools, ms. */
export interface ToolTimes {
  readonly commandMs: number
  /** Of a query to the database. */
  readonly databaseMs: number
}
export const usualToolTimes: ToolTimes = { commandMs: 30_000, databaseMs: 10_000 }
/** Longest time of one step of a command that works in steps, ms. */
export const commandStepMs = 10_000
/** Longest time in all, ms, with the wait for its turn. */
const longestMs = 80_000
/** Twice the longest answer of tool.php, for JSON's escapes and what the site prints besides. */
const mostBytes = 1_048_576

export const toolMark = (): string => `portal-${randomBytes(18).toString('base64url')}`

const text = (most: number) => z.string().max(most)
const whole = 300_000
export const commandShape: z.ZodType<CommandResult> = z.object({
  ok: z.boolean(),
  messages: z.array(text(whole)).max(20_000),
  columns: z.array(text(whole)).max(300),
  rows: z.array(z.array(text(whole)).max(300)).max(100_000),
  isRecord: z.boolean(),
  value: text(whole).nullable(),
  isCut: z.boolean(),
  after: z
    .object({ table: text(300), key: z.int().nonnegative().nullable() })
    .nullable()
    .default(null),
})
const endedShape = z.object({ ended: text(2_000) })

const cell = z
  .object({
    kind: z.enum(['text', 'hex', 'masked']),
    value: text(whole),
    bytes: z.int().nonnegative(),
  })
  .nullable()
const rowsShape = z.object({
  columns: z.array(text(300)).max(2_000),
  rows: z.array(z.array(cell).max(2_000)).max(2_000),
  isCut: z.boolean(),
}) satisfies z.ZodType<ShownRows>
const count = z.int().nonnegative()
const dataShapes: { readonly [Op in DatabaseOp]: z.ZodType<DatabaseResults[Op]> } = {
  tables: z.object({
    tables: z
      .array(z.object({ name: text(300), rows: count.nullable(), bytes: count.nullable() }))
      .max(500),
  }),
  columns: z.object({
    columns: z
      .array(
        z.object({
          name: text(300),
          type: text(2_000),
          mayBeNull: z.boolean(),
          isKey: z.boolean(),
          default: text(20_000).nullable(),
          isAutomatic: z.boolean(),
        }),
      )
      .max(2_000),
    keys: z
      .array(
        z.object({ name: text(300), isUnique: z.boolean(), columns: z.array(text(300)).max(100) }),
      )
      .max(500),
  }),
  rows: rowsShape.extend({ total: count }),
  row: rowsShape,
  change: z.object({ former: z.record(text(300), cell).nullable(), inserted: count }),
  sql: rowsShape.extend({ changed: count.nullable() }),
}
/** The shape of an answer of database.php of the runtime. */
export const databaseShape = <Op extends DatabaseOp>(
  op: Op,
): z.ZodType<Exclude<DatabaseAnswer<Op>, ToolFault>> =>
  z.object({
    ok: z.boolean(),
    messages: z.array(text(2_000)).max(100),
    data: dataShapes[op].nullable().default(null),
  })

function between(answer: string, mark: string): unknown {
  const begin = answer.indexOf(`\n${mark}\n`)
  const end = answer.indexOf(`\n${mark}\n`, begin + 1)
  if (begin < 0 || end < 0) return undefined
  try {
    return JSON.parse(answer.slice(begin + mark.length + 2, end))
  } catch {
    return undefined
  }
}

/** DriverFailure unavailable where the container does not answer, or has no free PHP process. */
export async function answerOfTool<T>(
  at: SiteAddress,
  of: { readonly ticket: string; readonly mark: string; readonly host: string },
  shape: z.ZodType<T>,
): Promise<T | ToolFault> {
  let said
  try {
    said = await ask(at, {
      path: `/portal-act/${of.ticket}`,
      headers: { host: of.host },
      timeoutMs: longestMs,
      mostBytes,
      cut: true,
    })
  } catch (error) {
    throw new DriverFailure('unavailable', `the container ${(error as Error).message}`, {
      cause: error,
    })
  }
  const value = between(said.text, of.mark)
  const { data } = shape.safeParse(value)
  if (data !== undefined) return data
  const ended = endedShape.safeParse(value)
  if (ended.success) return { fault: 'broken', why: ended.data.ended }
  switch (said.answer.statusCode) {
    case 504:
      return { fault: 'slow', why: '' }
    case 503:
    case 429:
      throw new DriverFailure('unavailable', 'the site has no PHP to spare')
    case 404:
      throw new DriverFailure('unavailable', 'the container is of a release without this tool')
    default:
      return { fault: 'broken', why: '' }
  }
}
