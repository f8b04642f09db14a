/** The form of one act of the operator: its call, its reason, and what comes of it. */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import type { StaffPermission } from './staff-roles.ts'
import { oneLine } from './text.ts'

export const ActOutcome = z.object({
  /** `proposed`: another member must approve it first. */
  state: z.enum(['done', 'proposed']),
  /** Its number in the trail; null while it is proposed. */
  act: z.nullable(z.int()),
  proposal: z.nullable(z.string()),
  /** True for a repeat under the same key: nothing was done again. */
  repeated: z.boolean(),
  before: z.nullable(z.record(z.string(), z.unknown())),
  after: z.nullable(z.record(z.string(), z.unknown())),
  /** Of what was just proposed: how many members may approve it. */
  approvers: z.optional(z.int()),
  /** What to do where nobody may. */
  notice: z.optional(z.string()),
  /** What opens what was asked for: once, and only for who asked. A repeat has none. */
  link: z.optional(z.string()),
  /** What signs from now on: once, and only for who asked. A repeat has none. */
  secret: z.optional(z.string()),
})
export type ActOutcome = z.output<typeof ActOutcome>

const why = oneLine(3, 500)
/** The same key acts once. */
const key = z.optional(z.string().check(z.regex(/^[\w-]{8,64}$/)))

const actWith =
  <const R extends z.ZodMiniType>(reason: R) =>
  <const N extends string, const P extends StaffPermission, const S extends z.core.$ZodShape>(
    name: N,
    may: P,
    summary: string,
    shape: S,
  ) =>
    endpoint({
      method: 'POST',
      path: `/api/operator/acts/${name}`,
      access: 'staff',
      may,
      summary,
      body: z.strictObject({ ...shape, reason, key }),
      result: ActOutcome,
    })
/** An act that is refused without a reason. */
export const needed = actWith(why)
/** An act that says enough by itself. */
export const unneeded = actWith(z.optional(why))
