/** Who may visit a server's site: a password before its pages, and networks that are denied. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

/** Most denied addresses and networks. */
export const mostDenied = 200

export const SiteVisitors = z.object({
  /** The user name that goes with the password; null: everybody may visit. */
  user: z.nullable(z.string()),
  /** Addresses and networks (CIDR) whose visitors get 403. */
  denied: z.array(z.string()),
  /** The IP address of the caller. */
  address: z.string(),
})
export type SiteVisitors = z.output<typeof SiteVisitors>

const noControl = {
  en: 'Use no control characters.',
  vi: 'Không dùng ký tự điều khiển.',
}
/** A colon would end the user name in a Basic authentication header (RFC 7617). */
const noColon = {
  en: 'Use no colon and no control characters.',
  vi: 'Không dùng dấu hai chấm và ký tự điều khiển.',
}
const user = z.string().check(
  z.trim(),
  z.minLength(1),
  z.maxLength(60),
  z.refine((text) => /^[^:\p{Cc}]*$/u.test(text), { params: noColon }),
)
export const SitePassword = z.strictObject({
  user,
  password: z.string().check(
    z.minLength(8, 'password_length'),
    z.maxLength(128, 'password_length'),
    z.refine((text) => /^\P{Cc}*$/u.test(text), { params: noControl }),
  ),
})

export const getSiteVisitors = endpoint({
  method: 'GET',
  path: '/api/wp/:id/visitors',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'Who may visit the site of a server',
  params: idParam,
  result: SiteVisitors,
})
export const setSitePassword = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/visitors/password',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Ask visitors for a user name and a password before they see any page or file',
  params: idParam,
  body: SitePassword,
  result: SiteVisitors,
})
export const removeSitePassword = endpoint({
  method: 'DELETE',
  path: '/api/wp/:id/visitors/password',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Ask visitors for no password any more',
  params: idParam,
  result: SiteVisitors,
})
export const denyNetworks = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/visitors/denied',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'The addresses and networks (CIDR) that may not visit the site, as one list',
  params: idParam,
  body: z.strictObject({
    networks: z.array(z.string().check(z.maxLength(60))).check(z.maxLength(mostDenied)),
  }),
  result: SiteVisitors,
})
