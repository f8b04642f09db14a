/** The acts on nodes (decision 123). */
import * as z from 'zod/mini'
import { needed } from './operator-act.ts'
import { oneLine } from './text.ts'

export const nodeActs = {
  'node.lost': needed(
    'node.lost',
    'work',
    'A node does not come back: its servers come up on others, from their newest backups',
    {
      node: oneLine(1, 40),
      /** This one alone. */
      server: z.optional(z.string().check(z.maxLength(100))),
      /** `yes`: the operator knows that the machine is off. */
      poweredOff: z.enum(['no', 'yes']),
    },
  ),
} as const
