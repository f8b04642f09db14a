/** PHP settings that a server's owner may change. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

const between = (least: number, most: number) => z.int().check(z.gte(least), z.lte(most))

export const PhpSettings = z.strictObject({
  /** Largest file that a visitor or editor may upload, MB. */
  uploadMb: between(8, 128),
  /** Longest time that one page may take, seconds. */
  pageSeconds: between(5, 600),
  /** Most fields of a form that are read. */
  inputVars: between(1_000, 20_000),
  /** WP_DEBUG: notices and deprecations go to the log. Visitors see none of them. */
  debug: z.boolean(),
})
export type PhpSettings = z.output<typeof PhpSettings>

export const PhpState = z.object({
  settings: PhpSettings,
  /** The largest value that the platform allows. */
  most: z.object({ pageSeconds: z.int() }),
  /** Containers are being replaced, one after the other, by containers with the new settings. */
  applying: z.boolean(),
})
export type PhpState = z.output<typeof PhpState>

export const getPhpSettings = endpoint({
  method: 'GET',
  path: '/api/wp/:id/php',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'What is set of PHP on a server',
  params: idParam,
  result: PhpState,
})
export const changePhpSettings = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/php',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Set PHP of a server. Its containers are replaced one after the other, unnoticed',
  params: idParam,
  body: PhpSettings,
  result: PhpState,
})
