/** SFTP access to the files of a server, and the keys that open it. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

/** Most keys of one server. */
export const mostSshKeys = 20

export const SshKey = z.object({
  id: z.string(),
  name: z.string(),
  /** The type as `ssh-keygen -l` prints it: ed25519, ECDSA or RSA. */
  kind: z.string(),
  /** SHA256:…, as every SSH program shows it. */
  fingerprint: z.string(),
  createdAt: z.string(),
  /** The last sign-in with this key; null: none yet. */
  usedAt: z.nullable(z.string()),
  usedFrom: z.nullable(z.string()),
})
export type SshKey = z.output<typeof SshKey>

export const SftpAccess = z.object({
  /** How a program connects; null where the provider offers no SFTP. */
  address: z.nullable(
    z.object({
      host: z.string(),
      port: z.int(),
      user: z.string(),
      /** The fingerprint of our host key, which a program shows at the first connection. */
      fingerprint: z.string(),
    }),
  ),
  keys: z.array(SshKey),
})
export type SftpAccess = z.output<typeof SftpAccess>

export const NewSshKey = z.strictObject({
  name: z.string().check(z.trim(), z.minLength(1), z.maxLength(60)),
  /** One line of a .pub file. */
  key: z.string().check(z.trim(), z.minLength(1), z.maxLength(4_000)),
})

export const getSftp = endpoint({
  method: 'GET',
  path: '/api/wp/:id/sftp',
  access: 'customer',
  member: 'servers:write',
  summary: 'How the files of a server are reached by SFTP, and the keys that open it',
  params: idParam,
  result: SftpAccess,
})
export const addSshKey = endpoint({
  method: 'POST',
  path: '/api/wp/:id/sftp/keys',
  access: 'customer',
  asksAgain: true,
  summary: 'Let a public key (ed25519, ECDSA, or RSA from 2048 bits) open the files of a server',
  params: idParam,
  body: NewSshKey,
  result: SshKey,
  status: 201,
})
export const removeSshKey = endpoint({
  method: 'DELETE',
  path: '/api/wp/:id/sftp/keys/:key',
  access: 'customer',
  summary: 'Take a key away. Connections that it opened end within seconds',
  params: z.object({ id: z.string(), key: z.string() }),
  result: z.null(),
})
