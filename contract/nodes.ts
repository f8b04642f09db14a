/** A new machine asks for its settings as a node, with a key that the operator gave it. */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

/**
 * A node's settings. They are encrypted and authenticated under the key, so nobody on the way can
 * read or forge them.
 */
export const NodeSettings = z.object({
  /** Variables for the machine's `.env`. */
  variables: z.record(z.string().check(z.regex(/^[A-Z][A-Z0-9_]*$/)), z.string()),
})
export type NodeSettings = z.output<typeof NodeSettings>

export const joinNode = endpoint({
  method: 'POST',
  path: '/api/nodes/join',
  access: 'public',
  whileClosed: true,
  summary: 'For machines that the operator adds: how this one is set up, once, by a join key',
  body: z.strictObject({
    node: z.string().check(z.maxLength(40)),
    /** A random number of the machine, hex. */
    nonce: z.string().check(z.regex(/^[0-9a-f]{32}$/)),
    /** Proves that the machine has the key: HMAC-SHA256 of the name and the nonce. */
    proof: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  }),
  /** NodeSettings, encrypted under the key. */
  result: z.object({ sealed: z.string() }),
})
