/** The form of one act of the operator: its call, its reason, and its outcome. */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import type { StaffPermission } from './staff-roles.ts'
import { oneLine } from './text.ts'

export const ActOutcome = z.object({
  /** `proposed`: another member must approve it first. */
  state: z.enum(['done', 'proposed']),
  /** Its number in the trail; null while it is only proposed. */
  act: z.nullable(z.int()),
  proposal: z.nullable(z.string()),
  /** True for a repeat under the same key: nothing was done again. */
  repeated: z.boolean(),
  before: z.nullable(z.record(z.string(), z.unknown())),
  after: z.nullable(z.record(z.string(), z.unknown())),
  /** For a new proposal: how many members may approve it. */
  approvers: z.optional(z.int()),
  /** What to do when no member may approve the proposal. */
  notice: z.optional(z.string()),
  /**
   * A link that opens the result, given once and only to the member who asked. A repeat has none.
   */
  link: z.optional(z.string()),
  /** The new signing secret, given once and only to the member who asked. A repeat has none. */
  secret: z.optional(z.string()),
})
export type ActOutcome = z.output<typeof ActOutcome>

const why = oneLine(3, 500)
/** Idempotency key: an act with the same key is done once. */
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
/** An act that needs a reason. */
export const needed = actWith(why)
/** An act that needs no reason, because it explains itself. */
export const unneeded = actWith(z.optional(why))
