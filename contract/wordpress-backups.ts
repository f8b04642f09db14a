/** Backups of a WordPress server: files and database in one archive. */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'

export const Backup = z.object({
  id: z.string(),
  /** `update`: made before WordPress, a plugin or a theme was updated. */
  kind: z.enum(['manual', 'nightly', 'update']),
  /**
   * A backup counts once it is `proven`: restored into a scratch site, where every row count and
   * checksum agreed.
   */
  state: z.enum(['making', 'proven', 'failed']),
  createdAt: z.string(),
  provenAt: z.nullable(z.string()),
  /** Bytes of the archive; null until it is proven. */
  size: z.nullable(z.int()),
  /** What the proof counted; null until it is proven. */
  files: z.nullable(z.int()),
  rows: z.nullable(z.int()),
  /** The server is being restored to this backup. */
  restoring: z.boolean(),
  /** When the server was last restored to this backup, and when that last failed. */
  restoredAt: z.nullable(z.string()),
  restoreFailedAt: z.nullable(z.string()),
})
export type Backup = z.output<typeof Backup>

const backupParams = z.object({
  id: z.string().check(z.maxLength(100)),
  backupId: z.string().check(z.maxLength(100)),
})

export const listBackups = endpoint({
  method: 'GET',
  path: '/api/wp/:id/backups',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'The backups of a server, newest first',
  params: idParam,
  query: z.object({ ...pageQuery }),
  result: z.array(Backup),
  paged: true,
})
export const makeBackup = endpoint({
  method: 'POST',
  path: '/api/wp/:id/backups',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Back a running server up now; its visitors notice nothing',
  params: idParam,
  result: Backup,
  status: 201,
})
export const restoreBackup = endpoint({
  method: 'POST',
  path: '/api/wp/:id/backups/:backupId/restore',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary:
    'Put a running server back to a proven backup: files and database; size, price and ' +
    'domains stay as they are',
  params: backupParams,
  result: z.object({ id: z.string() }),
})
export const linkBackup = endpoint({
  method: 'POST',
  path: '/api/wp/:id/backups/:backupId/link',
  access: 'customer',
  member: 'servers:write',
  summary:
    'An address under which a proven backup can be downloaded for five minutes, without the token',
  params: backupParams,
  result: z.object({ url: z.string() }),
  asksAgain: true,
})
export const downloadBackup = endpoint({
  method: 'GET',
  path: '/api/wp/:id/backups/:backupId/download',
  access: 'public',
  summary: 'The archive (tar, gzip), by an address of the call above',
  params: backupParams,
  query: z.object({ ticket: z.optional(z.string().check(z.maxLength(200))) }),
  result: z.string(),
  bare: true,
  files: ['application/gzip'],
})
