/** Erases the team of a customer who closes the account. */
import { closedName } from '../auth/index.ts'
import type { Tx } from '../platform/db.ts'
import type { EndWork } from './members.ts'

/** For a closed account: ends its members' access, and its own in other accounts. */
export async function forgetTeam(tx: Tx, endWork: EndWork, customerId: string): Promise<void> {
  // Delete invitations first: an acceptance locks one, and once it is committed its member is found
  // below.
  await tx.deleteFrom('team_invitation').where('owner_id', '=', customerId).execute()
  const rows = await tx
    .selectFrom('team_member')
    .select('id')
    .where((eb) => eb.or([eb('owner_id', '=', customerId), eb('person_id', '=', customerId)]))
    .forUpdate()
    .execute()
  const ids = rows.map(({ id }) => id)
  await endWork(tx, ids)
  if (ids.length > 0) await tx.deleteFrom('team_member').where('id', 'in', ids).execute()
  await tx.deleteFrom('team_act').where('owner_id', '=', customerId).execute()
  // In other accounts' trails the name is replaced, as everywhere.
  await tx
    .updateTable('team_act')
    .set({ person_name: closedName })
    .where('person_id', '=', customerId)
    .execute()
}
