import { systemClock } from '../platform/clock.ts'
import { connect } from '../platform/db.ts'
import type { Config } from '../config.ts'
import { listStaff } from '../staff/index.ts'
import { actCommand } from './act.ts'
import type { Output } from './output.ts'

/**
 * `staff`: members and open invitations. `staff add`: makes an invitation and prints its link once;
 * it is the act `staff.invite` and is recorded in the trail.
 */
export async function staffCommand(
  config: Config,
  databaseUrl: string,
  [verb = 'list', ...words]: readonly string[],
  out: Output,
): Promise<number> {
  if (verb === 'add') {
    const reason = words.includes('--reason') ? [] : ['--reason', 'invited by command']
    return await actCommand(config, databaseUrl, ['staff.invite', ...words, ...reason], out)
  }
  if (verb !== 'list' || words.length > 0) {
    out.refuse(
      'npm run portal -- staff [list | add --email <address> --name <name> --role <role> ' +
        '[--networks <cidr,…>]] [--json]',
    )
    return 64
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    const { members, invitations } = await listStaff(db, systemClock)
    for (const { id, name, email, role, networks, disabledAt } of members)
      out.line(
        `${id}  ${role.padEnd(10)}  ${email}  ${name}  ${networks.join(' ') || 'any network'}` +
          (disabledAt === null ? '' : `  disabled ${disabledAt}`),
      )
    for (const { id, email, role, networks, expiresAt } of invitations)
      out.line(
        `invited  ${role.padEnd(10)}  ${email}  ${networks.join(' ') || 'any network'}  ` +
          `until ${expiresAt}  (${id})`,
      )
    out.fields({ members, invitations })
    return 0
  } finally {
    await close()
  }
}
