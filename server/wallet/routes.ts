import { wallet as api } from '../../contract/index.ts'
import { decodeCursor, encodeCursor } from '../platform/cursor.ts'
import type { Database } from '../platform/db.ts'
import { Page, type Http } from '../platform/http.ts'
import { statementPage } from './statement.ts'

export function routes(http: Http, db: Database): void {
  http.read(api.listTransactions, async ({ customerId, query, language }) => {
    const before = decodeCursor(query.cursor, language)
    const { items, next } = await statementPage(db, { customerId, limit: query.limit ?? 50, before, direction: query.direction, language })
    return new Page(items, encodeCursor(next))
  })
}
