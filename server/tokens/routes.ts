import { tokens as api, type Language } from '../../contract/index.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import type { Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import { letterOfMade } from './letters.ts'
import { createToken, listTokens, revokeToken, type TokenNeeds } from './tokens.ts'

export interface TokenRouteDeps extends TokenNeeds {
  readonly db: Database
  readonly portalUrl: string
  /** Refuses a wrong password, in the field that is named. */
  readonly prove: (
    customerId: string,
    password: string,
    field: 'password',
    language: Language,
  ) => Promise<unknown>
  readonly customer: (
    db: Queryable,
    id: string,
  ) => Promise<{ readonly email: string; readonly language: Language }>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  /** Limit per customer, because each token sends a letter. */
  readonly made: Limit
}

export function routes(http: Http, deps: TokenRouteDeps): void {
  const { db, clock } = deps
  http.read(api.listTokens, ({ customerId }) => listTokens(db, clock, customerId))
  http.write(
    api.createToken,
    async ({ customerId, body, language }) => {
      await deps.prove(customerId, body.password, 'password', language)
      await deps.made.take(customerId)
    },
    async ({ tx, customerId, body, ip }) => {
      const { password: _proven, ...wish } = body
      const made = await createToken(tx, deps, { customerId, wish })
      const { email, language } = await deps.customer(tx, customerId)
      const { portalUrl } = deps
      const until = new Date(made.token.expiresAt)
      const told = { ...made.token, until, from: ip, portalUrl }
      const { subject, text } = letterOfMade(told, language)
      await deps.mail(tx, email, subject, text)
      return made
    },
  )
  http.write(api.revokeToken, async ({ tx, customerId, params }) => {
    await revokeToken(tx, customerId, params.id)
    return null
  })
}
