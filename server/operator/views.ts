/**
 * Tells whose portal a view's token shows, and whether its member may still look (decision 104).
 */
import { operatorActs } from '../../contract/index.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import { viewOf } from '../auth/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { Viewer } from '../platform/http.ts'
import { staffOfSession } from '../staff/index.ts'

/** Undefined: unknown or ended, or its member is signed out, elsewhere, or may look no more. */
export async function identifyView(
  db: Queryable,
  clock: Clock,
  token: string,
  ip: string,
): Promise<Viewer | undefined> {
  const view = await viewOf(db, clock, token)
  if (!view) return undefined
  const staff = await staffOfSession(db, clock, view.staffSessionId, ip)
  const may = staff !== undefined && mayDo(staff.role, operatorActs['customer.see'].may)
  return may ? { id: view.id, customerId: view.customerId } : undefined
}
