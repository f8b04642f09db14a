/** A database's record of its past use. */
import { ConfigFault } from './config.ts'
import type { Queryable } from './platform/db.ts'

/**
 * Records that the sandbox is on. Throws ConfigFault if production starts without the sandbox on a
 * database that was used with it: its wallets hold money that nobody paid, and the demo customer's
 * password is public.
 */
export async function judgeInstallation(
  db: Queryable,
  now: Date,
  { sandbox, production }: { sandbox: boolean; production: boolean },
): Promise<void> {
  if (sandbox) {
    await db
      .insertInto('installation')
      .values({ sandbox_since: now })
      .onConflict((conflict) =>
        conflict.column('one').doUpdateSet((eb) => ({
          sandbox_since: eb.fn.coalesce('installation.sandbox_since', 'excluded.sandbox_since'),
        })),
      )
      .execute()
    return
  }
  if (!production) return
  const row = await db.selectFrom('installation').select('sandbox_since').executeTakeFirst()
  if (!row?.sandbox_since) return
  throw new ConfigFault([
    "This database has been the sandbox's since " +
      `${row.sandbox_since.toISOString().slice(0, 10)}, and holds money that nobody paid: start ` +
      'production with an empty DATA_DIR or DATABASE_URL, or set SANDBOX=allow if you mean it.',
  ])
}
