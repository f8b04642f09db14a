/**
 * What a token for programs opens. Each endpoint names its scope in `scope`; this file holds the
 * rules of scopes. A call without a scope is closed to every token.
 */

/** A room and a verb. `write` includes `read` of the same room. */
export const tokenScopes = [
  'servers:read',
  'servers:write',
  'domains:read',
  'domains:write',
  'wallet:read',
  'invoices:read',
  'tickets:read',
  'tickets:write',
] as const
export type TokenScope = (typeof tokenScopes)[number]

/** What an endpoint says about tokens. */
interface OpenedCall {
  readonly path: string
  readonly scope?: TokenScope
  readonly narrows?: true
}

/** What a token may do. */
export interface TokenRights {
  readonly scopes: readonly TokenScope[]
  /** Ids; null: all servers or domains of the customer, later ones included. */
  readonly servers: readonly string[] | null
  readonly domains: readonly string[] | null
}

/**
 * Rooms that cannot be limited to some servers and domains: invoices and tickets concern all of
 * them.
 */
export const wholeRooms: ReadonlySet<TokenScope> = new Set([
  'wallet:read',
  'invoices:read',
  'tickets:read',
  'tickets:write',
])

/**
 * Fields of answers that open a document for ever without a sign-in. Only a token that may read
 * invoices gets them, and a view never does.
 */
export const openLinks: ReadonlySet<string> = new Set(['hosted_invoice_url', 'invoice_pdf'])

/** The kind of thing whose id is in a call's path. */
export function subjectOf({ path }: Pick<OpenedCall, 'path'>): 'server' | 'domain' | undefined {
  if (/^\/api\/wp\/:id(\/|$)/.test(path)) return 'server'
  if (/^\/api\/dns\/:id(\/|$)/.test(path)) return 'domain'
  return undefined
}

const includes = (scopes: readonly TokenScope[], needed: TokenScope): boolean =>
  scopes.includes(needed) ||
  (needed.endsWith(':read') && scopes.some((one) => one === needed.replace(/read$/, 'write')))

/** Whether a token gets the fields in `openLinks`. */
export const tellsLinks = ({ scopes }: Pick<TokenRights, 'scopes'>): boolean =>
  includes(scopes, 'invoices:read')

/** The ids that the token is limited to in the room of this scope; null: all. */
export const limitOf = (rights: TokenRights, scope: TokenScope): readonly string[] | null => {
  if (scope.startsWith('servers:')) return rights.servers
  return scope.startsWith('domains:') ? rights.domains : null
}

/** Why a token may not make a call; undefined: it may. */
export function tokenRefusal(
  rights: TokenRights,
  endpoint: OpenedCall,
  id: string | undefined,
): 'closed' | 'scope' | 'limit' | undefined {
  const { scope } = endpoint
  if (scope === undefined) return 'closed'
  if (!includes(rights.scopes, scope)) return 'scope'
  const limit = limitOf(rights, scope)
  if (limit === null || endpoint.narrows === true) return undefined
  // A call without a server or domain in its path concerns all of them, or makes a new one.
  const named = subjectOf(endpoint) !== undefined && id !== undefined && limit.includes(id)
  return named ? undefined : 'limit'
}
