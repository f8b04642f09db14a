/** The files of a server, as its owner lists, reads and changes them. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

/** Bytes in one piece when a file is read or written. */
export const pieceBytes = 524_288
/** The largest file, bytes. */
export const mostFileBytes = 512 * 1_048_576

const path = z.string().check(z.maxLength(2_000))
const whole = z.coerce.number().check(z.int(), z.gte(0), z.lte(mostFileBytes))

export const SiteFile = z.object({
  name: z.string(),
  /** Links are listed but not followed. */
  kind: z.enum(['file', 'folder', 'link', 'other']),
  /** Size of a file. */
  bytes: z.int(),
  changedAt: z.string(),
})
export type SiteFile = z.output<typeof SiteFile>

export const listFiles = endpoint({
  method: 'GET',
  path: '/api/wp/:id/files',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary:
    'What is in a folder of a server, folders first. Paths are relative to the folder of ' +
    'WordPress. The files of the database are left out',
  params: idParam,
  query: z.object({ path: z.optional(path) }),
  result: z.object({
    path: z.string(),
    entries: z.array(SiteFile),
    /** False: there are more entries than the answer lists. */
    isWhole: z.boolean(),
  }),
})
/** Open to `write` only: wp-config.php contains the site's secrets. */
export const readFile = endpoint({
  method: 'GET',
  path: '/api/wp/:id/files/content',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'A piece of a file, from a byte on',
  params: idParam,
  query: z.object({ path, offset: z.optional(whole) }),
  result: z.object({
    /** Size of the whole file. */
    bytes: z.int(),
    /** Base64. */
    data: z.string(),
  }),
})
export const writeFile = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/files/content',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary:
    'A piece of a file, in order from the first. With the last the file takes its place whole; ' +
    'until then what was there stays',
  params: idParam,
  maxBodyBytes: Math.ceil((pieceBytes * 4) / 3) + 8_192,
  body: z.strictObject({
    path,
    /** The same for all pieces of one file. */
    upload: z.string().check(z.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
    offset: z.int().check(z.gte(0), z.lte(mostFileBytes)),
    /** Base64. */
    data: z
      .string()
      .check(
        z.maxLength(Math.ceil(pieceBytes / 3) * 4),
        z.regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
      ),
    /** Bytes of the whole file. */
    total: z.int().check(z.gte(0), z.lte(mostFileBytes)),
    /** Whether an existing file of that name is replaced. */
    replaces: z.boolean(),
  }),
  result: z.object({
    /** Written so far. */
    bytes: z.int(),
    done: z.boolean(),
  }),
})
export const makeFolder = endpoint({
  method: 'POST',
  path: '/api/wp/:id/files/folder',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Make a folder',
  params: idParam,
  body: z.strictObject({ path }),
  result: z.null(),
  status: 201,
})
export const moveFile = endpoint({
  method: 'POST',
  path: '/api/wp/:id/files/move',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Give a file or folder another name, or move it to another folder',
  params: idParam,
  body: z.strictObject({ path, to: path }),
  result: z.null(),
})
export const removeFile = endpoint({
  method: 'DELETE',
  path: '/api/wp/:id/files',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Delete a file, or a folder with all that is in it',
  params: idParam,
  query: z.object({ path }),
  result: z.null(),
})
