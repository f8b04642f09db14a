/** Updates of WordPress, plugins and themes of a server. */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'

/**
 * Which updates of plugins and themes are installed automatically; security releases of WordPress
 * always are.
 */
export const UpdatePolicy = z.enum(['security', 'all', 'none'])
export type UpdatePolicy = z.output<typeof UpdatePolicy>

export const SoftwareKind = z.enum(['core', 'plugin', 'theme'])
export type SoftwareKind = z.output<typeof SoftwareKind>

export const AvailableRelease = z.object({
  version: z.string(),
  /** True: it fixes a security fault, as its maker says. */
  security: z.boolean(),
  /** What it needs and the server lacks: a newer PHP or WordPress; null: nothing. */
  needs: z.nullable(z.enum(['php', 'wordpress'])),
  /** This release was rolled back on this server before. */
  rolledBack: z.boolean(),
})
export type AvailableRelease = z.output<typeof AvailableRelease>

export const Software = z.object({
  kind: SoftwareKind,
  /** The name of its folder; `wordpress` for WordPress itself. */
  slug: z.string(),
  name: z.string(),
  version: z.string(),
  active: z.boolean(),
  /** Null: the newest release is installed, or the directory does not list the software. */
  available: z.nullable(AvailableRelease),
})
export type Software = z.output<typeof Software>

/** A difference that a visitor would notice after an update. */
export const PageDifference = z.object({
  /** `admin`: signing in to wp-admin; `database`: its upgrade; otherwise a page's path. */
  path: z.string(),
  what: z.enum(['status', 'title', 'text', 'unreachable', 'sign_in', 'database', 'package']),
  before: z.string(),
  after: z.string(),
})
export type PageDifference = z.output<typeof PageDifference>

export const updateReasons = [
  'pages_differ',
  'backup_failed',
  'slow_backup',
  'no_room',
  'package_unusable',
  'directory_unavailable',
  'not_running',
  'busy',
  'withdrawn',
  'not_rolled_back',
  'wave_stopped',
  'node_lost',
  'unexpected',
] as const

export const Update = z.object({
  id: z.string(),
  /** Who wanted the update: the owner, the server's policy, or the provider. */
  cause: z.enum(['owner', 'automatic', 'wave']),
  /**
   * `waiting`: begins as soon as possible. `saving`: a backup is made. `updating`: files are
   * exchanged. `checking`: pages are compared. `rolling_back`: the backup is being restored.
   * `failed`: it was given up (`reason`); nothing changed unless that is `not_rolled_back`.
   */
  state: z.enum([
    'waiting',
    'saving',
    'updating',
    'checking',
    'rolling_back',
    'done',
    'rolled_back',
    'failed',
    'skipped',
  ]),
  packages: z.array(
    z.object({
      kind: SoftwareKind,
      slug: z.string(),
      name: z.string(),
      from: z.string(),
      to: z.string(),
      security: z.boolean(),
    }),
  ),
  reason: z.nullable(z.enum(updateReasons)),
  differences: z.array(PageDifference),
  /** Number of pages that were compared. */
  pages: z.int(),
  createdAt: z.string(),
  endedAt: z.nullable(z.string()),
})
export type Update = z.output<typeof Update>

export const Updates = z.object({
  /** The last check for updates; null: there was none yet. */
  lookedAt: z.nullable(z.string()),
  software: z.array(Software),
  policy: UpdatePolicy,
  /**
   * When the next automatic update runs, if there is anything to update; null: it has no directory.
   */
  nextAutomaticAt: z.nullable(z.string()),
  /** False: this portal queries no directory. */
  hasDirectory: z.boolean(),
  /** The update that is under way. */
  running: z.nullable(Update),
})
export type Updates = z.output<typeof Updates>

export const getUpdates = endpoint({
  method: 'GET',
  path: '/api/wp/:id/updates',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'What a server has installed, what is newer, and when it is updated by itself',
  params: idParam,
  result: Updates,
})
export const lookForUpdates = endpoint({
  method: 'POST',
  path: '/api/wp/:id/updates/look',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'List what a running server has installed, and ask the directory what is newer, now',
  params: idParam,
  result: Updates,
})
export const listUpdates = endpoint({
  method: 'GET',
  path: '/api/wp/:id/updates/history',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'The updates of a server, newest first',
  params: idParam,
  query: z.object({ ...pageQuery }),
  result: z.array(Update),
  paged: true,
})
export const beginUpdate = endpoint({
  method: 'POST',
  path: '/api/wp/:id/updates',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary:
    'Update a running server now: what is named, or all that is newer and was not undone before. ' +
    'It is backed up first, and put back to that when its pages are not what they were',
  params: idParam,
  body: z.strictObject({
    items: z.optional(
      z
        .array(z.strictObject({ kind: SoftwareKind, slug: z.string().check(z.maxLength(130)) }))
        .check(z.minLength(1), z.maxLength(400)),
    ),
  }),
  result: Update,
  status: 201,
})
export const changeUpdatePolicy = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/updates/policy',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'What a server is updated to by itself: security releases, all, or neither',
  params: idParam,
  body: z.strictObject({ policy: UpdatePolicy }),
  result: z.object({ policy: UpdatePolicy, nextAutomaticAt: z.nullable(z.string()) }),
})
