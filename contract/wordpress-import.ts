/** Import of a WordPress site from another host: upload, compare, switch over. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

/** Longest piece of an upload, bytes. A lost connection costs at most one piece. */
export const pieceBytes = 4 * 1_048_576
/** UpdraftPlus splits a large site into many zips. */
export const mostFiles = 20
/** Hours for which an unfinished upload, or a copy that is not switched to, is kept. */
export const keptHours = 24
/** Hours after the switch within which it can be undone. */
export const undoHours = 24

/** A note or a problem: the screens have a text for each code. */
const told = z.object({ code: z.string(), detail: z.string() })

export const ImportPage = z.object({
  path: z.string(),
  /** Null: the original did not answer. */
  original: z.nullable(z.object({ status: z.int(), title: z.string() })),
  copy: z.nullable(z.object({ status: z.int(), title: z.string() })),
  /** Percentage of the text that is equal; null where it cannot be compared. */
  likeness: z.nullable(z.int()),
  /** `unknown`: the original cannot be reached. */
  verdict: z.enum(['same', 'status', 'title', 'text', 'unknown']),
})
export type ImportPage = z.output<typeof ImportPage>

export const Import = z.object({
  id: z.string(),
  state: z.enum([
    'uploading',
    'building',
    'ready',
    'switching',
    'done',
    'undone',
    'failed',
    'discarded',
  ]),
  files: z.array(z.object({ name: z.string(), bytes: z.int(), received: z.int() })),
  origin: z.nullable(z.string()),
  /** The current step while it is `building`. */
  phase: z.nullable(z.enum(['unpack', 'database', 'upgrade', 'addresses', 'compare'])),
  /** Share of the database that is imported, 0 to 1. */
  share: z.number(),
  found: z.nullable(
    z.object({
      maker: z.enum(['portal', 'updraftplus', 'duplicator', 'all-in-one', 'files']),
      version: z.nullable(z.string()),
      files: z.int(),
      fileBytes: z.int(),
      tables: z.int(),
      rows: z.int(),
    }),
  ),
  /** The home address that the original names. */
  home: z.nullable(z.string()),
  /** Administrators of the copy; their passwords are those of the original. */
  admins: z.array(z.string()),
  notes: z.array(told),
  problem: z.nullable(told),
  /** Null until the pages are compared. */
  pages: z.nullable(z.array(ImportPage)),
  createdAt: z.string(),
  expiresAt: z.string(),
  switchedAt: z.nullable(z.string()),
  /** Until when the switch can be undone. */
  undoUntil: z.nullable(z.string()),
})
export type Import = z.output<typeof Import>

const importParams = z.object({
  id: z.string().check(z.maxLength(100)),
  importId: z.string().check(z.maxLength(100)),
})
const fileParams = z.object({ ...importParams.shape, file: z.string().check(z.maxLength(10)) })

/** A website's address as people type it. */
export const originText = z.string().check(z.trim(), z.maxLength(300))

export const getImport = endpoint({
  method: 'GET',
  path: '/api/wp/:id/import',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  summary: 'The newest site that was, or is being, moved into a server; null: none was',
  params: idParam,
  result: z.nullable(Import),
})
export const beginImport = endpoint({
  method: 'POST',
  path: '/api/wp/:id/import',
  access: 'customer',
  member: 'servers:write',
  summary:
    'Begin to move a site in: the names and lengths of the files that will be uploaded. One at a ' +
    'time a server; what is not finished in 24 hours is forgotten',
  params: idParam,
  body: z.object({
    files: z
      .array(
        z.object({
          name: z.string().check(z.minLength(1), z.maxLength(255)),
          bytes: z.int().check(z.gte(1)),
        }),
      )
      .check(z.minLength(1), z.maxLength(mostFiles)),
    origin: z.optional(originText),
  }),
  result: Import,
  status: 201,
})
export const getImportFile = endpoint({
  method: 'GET',
  path: '/api/wp/:id/import/:importId/files/:file',
  access: 'customer',
  member: 'servers:write',
  summary: 'How much of a file has arrived: where its upload goes on',
  params: fileParams,
  result: z.object({ offset: z.int(), bytes: z.int() }),
})
export const putImportPiece = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/import/:importId/files/:file',
  access: 'customer',
  member: 'servers:write',
  summary:
    'The next piece of a file, at most 4 MiB, which begins at `offset`; 409 where the file has ' +
    'another length by now: ask for it and go on from there',
  params: fileParams,
  query: z.object({ offset: z.coerce.number().check(z.int(), z.gte(0)) }),
  takesBytes: true,
  maxUploadBytes: pieceBytes,
  result: z.object({ offset: z.int(), bytes: z.int() }),
})
export const buildImport = endpoint({
  method: 'POST',
  path: '/api/wp/:id/import/:importId/build',
  access: 'customer',
  member: 'servers:write',
  summary: 'Every file has arrived: make the copy, and compare it with the original',
  params: importParams,
  result: Import,
})
export const switchImport = endpoint({
  method: 'POST',
  path: '/api/wp/:id/import/:importId/switch',
  access: 'customer',
  member: 'servers:write',
  summary: 'Back the server up, then put the copy in its place',
  params: importParams,
  result: Import,
  asksAgain: true,
})
export const undoImport = endpoint({
  method: 'POST',
  path: '/api/wp/:id/import/:importId/undo',
  access: 'customer',
  member: 'servers:write',
  summary: 'Put the server back to what it was before the switch; possible for 24 hours',
  params: importParams,
  result: z.object({ id: z.string() }),
  asksAgain: true,
})
export const discardImport = endpoint({
  method: 'DELETE',
  path: '/api/wp/:id/import/:importId',
  access: 'customer',
  member: 'servers:write',
  summary: 'Forget the upload and the copy; the server stays as it is',
  params: importParams,
  result: z.nullable(z.object({})),
})
