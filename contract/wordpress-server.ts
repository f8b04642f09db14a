/** What an owner does with a running server (contract.md section 4). */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'
import { containerLimits, diskMb, Server } from './wordpress.ts'

/** Lower-case and readable; it becomes a host name. */
export const serverName = z.string().check(
  z.regex(/^[a-z][a-z0-9-]{1,40}[a-z0-9]$/, { error: 'server_name' }),
  z.refine((name) => !name.includes('--'), { error: 'server_name' }),
)

export const Usage = z.object({
  /** MB in use; 1024 MB are shown as 1 GB. */
  disk: z.int(),
  mariadb_disk_size: z.int(),
  /** MB resident in each container; 1000 MB are shown as 1 GB. Null while unknown. */
  containers: z.array(
    z.object({
      name: z.string(),
      ready: z.boolean(),
      restarts: z.int(),
      memory: z.nullable(z.int()),
    }),
  ),
})
export type Usage = z.output<typeof Usage>

export const getUsage = endpoint({
  method: 'GET',
  path: '/api/wp/:id/usage',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'What a server takes of its disks and memory now',
  params: idParam,
  result: Usage,
})
export const changeDisk = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/disk',
  access: 'customer',
  member: 'orders',
  summary:
    'Grow either disk, or change the number of containers; what grows is charged for the rest ' +
    'of the month before it acts',
  params: idParam,
  body: z.strictObject({
    id: z.optional(z.string()),
    /** The server's name; this call does not change it. */
    name: z.optional(z.string()),
    /** An absent field stays unchanged. */
    disk: z.optional(diskMb),
    mariadb_disk_size: z.optional(diskMb),
    replicate: z.optional(z.int().check(z.gte(containerLimits.min), z.lte(containerLimits.max))),
  }),
  result: Server,
})
export const changeServer = endpoint({
  method: 'PUT',
  path: '/api/wp/:id',
  access: 'customer',
  member: 'orders',
  summary: 'Change the name or the size plan; a smaller plan takes effect at the renewal',
  params: idParam,
  body: z.strictObject({
    id: z.optional(z.string()),
    name: z.optional(serverName),
    size: z.optional(z.int()),
    /**
     * The plan's monthly price that the screen showed, minor units; refused (409) if the price has
     * changed.
     */
    price: z.optional(z.int()),
  }),
  result: Server,
})
export const restartServer = endpoint({
  method: 'POST',
  path: '/api/wp/:id/restart',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Restart the containers one after the other; visitors are served all the while',
  params: idParam,
  result: z.object({ id: z.string() }),
})
export const deleteServer = endpoint({
  method: 'DELETE',
  path: '/api/wp/:id',
  access: 'customer',
  member: 'orders',
  summary: 'Delete a server with everything on it; its subscription ends',
  params: idParam,
  result: z.object({ id: z.string() }),
  asksAgain: true,
})
export const adminLink = endpoint({
  method: 'POST',
  path: '/api/wp/:id/admin-link',
  access: 'customer',
  member: 'servers:write',
  summary: 'An address that signs into wp-admin, once, within 60 seconds',
  params: idParam,
  result: z.object({ url: z.string() }),
})
