/** A fresh machine asks how it is to be set up as a node; the operator has given it a key. */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

/** What a machine is told, under the key: nobody on the way reads it, or makes it up. */
export const NodeSettings = z.object({
  /** Lines of its `.env`. */
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
    /** Drawn by the machine. */
    nonce: z.string().check(z.regex(/^[0-9a-f]{32}$/)),
    /** That it has the key: HMAC-SHA256 of the name and the nonce. */
    proof: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  }),
  /** NodeSettings, sealed. */
  result: z.object({ sealed: z.string() }),
})
