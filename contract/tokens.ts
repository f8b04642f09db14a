/** Tokens for programs: made and ended by the customer, shown once. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'
import { oneLine } from './text.ts'
import { tokenScopes } from './token-scopes.ts'

/** Most tokens of one customer. */
export const mostTokens = 20
/** Most servers, domains or networks that one token may be limited to. */
export const mostLimits = 100
export const usualTokenDays = 90
export const longestTokenDays = 365

/**
 * The beginning of each token: secret scanners find one by `\bcpt_[0-9A-Za-z]{50}\b`, and its last
 * six characters are the CRC-32 of those before.
 */
export const tokenPrefix = 'cpt_'

const scope = z.enum(tokenScopes)
const ids = z
  .array(z.string().check(z.maxLength(100)))
  .check(z.minLength(1), z.maxLength(mostLimits))

/** A token without its secret, which cannot be read again. */
export const Token = z.object({
  id: z.string(),
  name: z.string(),
  /** The first characters of the token, to tell it from others. */
  begins: z.string(),
  scopes: z.array(scope),
  /** Null: all. */
  servers: z.nullable(z.array(z.string())),
  domains: z.nullable(z.array(z.string())),
  /** CIDR; empty: from anywhere. */
  networks: z.array(z.string()),
  createdAt: z.string(),
  expiresAt: z.string(),
  expired: z.boolean(),
  /** Accurate to five minutes; null: never. */
  lastUsedAt: z.nullable(z.string()),
  lastUsedFrom: z.nullable(z.string()),
})
export type Token = z.output<typeof Token>

export const NewToken = z.strictObject({
  name: oneLine(1, 60),
  scopes: z.array(scope).check(z.minLength(1), z.maxLength(tokenScopes.length)),
  servers: z.optional(z.nullable(ids)),
  domains: z.optional(z.nullable(ids)),
  /** Addresses or networks in CIDR, IPv4 and IPv6. */
  networks: z.optional(z.array(z.string().check(z.maxLength(50))).check(z.maxLength(mostLimits))),
  expiresInDays: z.optional(z.int().check(z.gte(1), z.lte(longestTokenDays))),
  password: z.string().check(z.minLength(1), z.maxLength(128)),
})

export const listTokens = endpoint({
  method: 'GET',
  path: '/api/v1/account/tokens',
  access: 'customer',
  seen: true,
  summary: 'Tokens for programs, the newest first; never their secrets',
  result: z.array(Token),
})
export const createToken = endpoint({
  method: 'POST',
  path: '/api/v1/account/tokens',
  access: 'customer',
  asksAgain: true,
  summary: 'Make a token for a program; the answer alone has it, and a letter tells of it',
  body: NewToken,
  result: z.object({ token: Token, secret: z.string() }),
  status: 201,
})
export const revokeToken = endpoint({
  method: 'DELETE',
  path: '/api/v1/account/tokens/:id',
  access: 'customer',
  summary: 'End a token at once',
  params: idParam,
  result: z.null(),
})
