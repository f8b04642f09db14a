import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { wallet as api, walletProof as proof } from '../../contract/index.ts'
import type { Clock } from '../platform/clock.ts'
import { encodeCursor, pageRequest } from '../platform/cursor.ts'
import type { Database, Queryable } from '../platform/db.ts'
import { Page, type Http } from '../platform/http.ts'
import type { Secrets } from '../platform/secrets.ts'
import { entryPage, type Filter } from './entries.ts'
import { explainEntry, type Explainers } from './explain.ts'
import { transactionsCsv } from './export.ts'
import type { Language } from '../../contract/errors.ts'
import { closedPeriod, periodOf } from './period.ts'
import { createStatementKey } from './statement-key.ts'
import { signedStatement, statementCsv, statementJson } from './statement.ts'

export interface WalletRouteDeps {
  readonly db: Database
  readonly clock: Clock
  readonly secrets: Secrets
  readonly seller: { readonly name: string; readonly taxCode: string }
  readonly customer: (db: Queryable, id: string) => Promise<{ id: string; name: string }>
  readonly explainers: Explainers
}

const verifier = path.resolve(import.meta.dirname, '../../scripts/verify-statement.mjs')
const csvType = 'text/csv; charset=utf-8'
const day = (moment: Date): string => moment.toISOString().slice(0, 10)

export function routes(http: Http, deps: WalletRouteDeps): void {
  const { db, clock } = deps
  const key = createStatementKey(deps.secrets)

  const filterOf = (call: {
    customerId: string
    language: Language
    query: {
      direction?: 'in' | 'out' | undefined
      search?: string | undefined
      from?: string | undefined
      to?: string | undefined
    }
  }): Filter => ({
    customerId: call.customerId,
    language: call.language,
    direction: call.query.direction,
    search: call.query.search ?? '',
    period: periodOf(call.query, call.language),
  })

  http.read(api.listTransactions, async (call) => {
    const { query, language } = call
    const { items, next } = await entryPage(db, {
      ...filterOf(call),
      ...pageRequest(query, language),
    })
    return new Page(
      items.map(({ version: _version, ...entry }) => entry),
      encodeCursor(next),
    )
  })

  http.file(api.exportTransactions, async (call) => ({
    name: `transactions-${day(clock.now())}.csv`,
    type: csvType,
    chunks: transactionsCsv(db, filterOf(call)),
  }))

  http.read(proof.getTransaction, ({ customerId, params, language }) =>
    explainEntry(db, deps.explainers, { customerId, id: params.id, language }),
  )

  http.file(proof.getStatement, async ({ customerId, query, language, accept }) => {
    const now = clock.now()
    const { from, to } = closedPeriod(query, now, language)
    const { id, name } = await deps.customer(db, customerId)
    const statement = await signedStatement(db, key, {
      seller: deps.seller,
      customer: { id, name },
      from,
      to,
      now,
    })
    const file = `statement-${day(from)}-${day(to)}`
    const csv =
      query.format === undefined
        ? /\btext\/csv\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept)
        : query.format === 'csv'
    return csv
      ? { name: `${file}.csv`, type: csvType, chunks: statementCsv(statement) }
      : {
          name: `${file}.json`,
          type: 'application/json; charset=utf-8',
          chunks: statementJson(statement),
          enveloped: true,
        }
  })

  // The source of the verifier, for people who have only the portal.
  http.server.get(proof.verifierAddress, async (_request, reply) =>
    reply
      .type('text/javascript; charset=utf-8')
      .header('content-disposition', 'attachment; filename="verify-statement.mjs"')
      .send(await readFile(verifier)),
  )

  http.read(proof.statementKey, async () => ({
    algorithm: 'Ed25519' as const,
    publicKey: key.pem,
    fingerprint: key.fingerprint,
    seller: deps.seller.name,
  }))
}
