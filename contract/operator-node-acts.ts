/** The acts on nodes (decisions 123 and 141). */
import * as z from 'zod/mini'
import { readHostAndPort } from './host-and-port.ts'
import { needed } from './operator-act.ts'
import { oneLine } from './text.ts'

/** The allowed form of a node's name. */
export const nodeName = /^[a-z0-9][a-z0-9-]{0,39}$/

const node = z.string().check(z.regex(nodeName))
const address = z.string().check(
  z.maxLength(260),
  z.refine((text) => readHostAndPort(text) !== undefined),
)
const dataCentre = z.coerce.number().check(z.int(), z.gte(1), z.lte(999_999_999))

export const nodeActs = {
  'node.add': needed(
    'node.add',
    'work',
    'Write a node down, or change it, and make it another join key; in the shell only',
    {
      node,
      /** The address of its line. */
      address,
      /**
       * Ids of data centres. Without it a node keeps those it had, and a new node gets every one.
       */
      regions: z.optional(
        z.union([z.literal('all'), z.array(dataCentre).check(z.minLength(1), z.maxLength(1000))]),
      ),
      /** The address of its edge, for the edges of other nodes. */
      sites: z.optional(address),
    },
  ),
  'node.key': needed('node.key', 'work', 'Show the key of a line; in the shell only', { node }),
  'node.drain': needed(
    'node.drain',
    'work',
    'A node gets no new servers, and those that it has move to others',
    {
      node,
      /** `yes`: the servers that are on the node stay there. */
      stay: z.optional(z.enum(['no', 'yes'])),
    },
  ),
  'node.activate': needed('node.activate', 'work', 'A node gets new servers again', { node }),
  'node.remove': needed(
    'node.remove',
    'work',
    'Forget a node that has no server and keeps no original',
    { node },
  ),
  'node.lost': needed(
    'node.lost',
    'work',
    'A node does not come back: its servers come up on others, from their newest backups',
    {
      node: oneLine(1, 40),
      /** Only this server. */
      server: z.optional(z.string().check(z.maxLength(100))),
      /** `yes`: the operator confirms that the machine is off. */
      poweredOff: z.enum(['no', 'yes']),
    },
  ),
} as const
