/** The acts on mail that sites send (decision 141). */
import * as z from 'zod/mini'
import { needed } from './operator-act.ts'
import { oneLine } from './text.ts'
import { suspensionCauses } from './wordpress-mail.ts'

/** The server's id or name. */
const server = oneLine(1, 100)

export const siteMailActs = {
  'mail.suspend': needed(
    'mail.suspend',
    'work',
    'Suspend what a server sends; its owner gets a letter',
    {
      server,
      cause: z.enum(suspensionCauses),
      /** A note that the owner reads beside the cause. */
      note: z.optional(oneLine(1, 300)),
    },
  ),
  'mail.resume': needed(
    'mail.resume',
    'work',
    'Let a server send e-mail again; its owner gets a letter',
    { server },
  ),
} as const
