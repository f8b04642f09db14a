import { personalData as api, type Language } from '../../contract/index.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import type { Http } from '../platform/http.ts'
import type { Limits } from '../platform/limits.ts'
import { personalData } from './export.ts'
import { exportLetter } from './letter.ts'

export interface PrivacyDeps {
  readonly db: Database
  readonly clock: Clock
  readonly portalUrl: string
  readonly customer: (
    db: Queryable,
    id: string,
  ) => Promise<{ readonly email: string; readonly phone: string; readonly language: Language }>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly limits: Limits
}

export function routes(http: Http, deps: PrivacyDeps): void {
  const { db, clock, portalUrl } = deps
  // Each reads all that a customer has.
  const exports = deps.limits.limit('data-export', api.mostExportsADay, 24 * 3600)
  http.file(api.exportPersonalData, async ({ customerId, ip }) => {
    await exports.take(customerId)
    const { email, phone, language } = await deps.customer(db, customerId)
    const { subject, text } = exportLetter({ from: ip, portalUrl }, language)
    await transaction(db, (tx) => deps.mail(tx, email, subject, text))
    const now = clock.now()
    return {
      name: `data-${now.toISOString().slice(0, 10)}.json`,
      type: 'application/json; charset=utf-8',
      chunks: personalData(db, { id: customerId, recipients: [email, phone] }, now),
    }
  })
}
