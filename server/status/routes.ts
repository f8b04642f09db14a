import * as api from '../../contract/status.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Http } from '../platform/http.ts'
import { noticesFor, statusFor } from './notices.ts'

export function routes(http: Http, { db, clock }: { db: Database; clock: Clock }): void {
  http.read(api.status, ({ language }) => statusFor(db, clock.now(), language))
  http.read(api.noticesOfDesk, () => noticesFor(db, clock.now()))
}
