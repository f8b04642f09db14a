import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { migrate, planOf } from '../platform/db.ts'
import {
  judgePlan,
  thisRelease,
  type Migration,
  type MigrationPlan,
  type Release,
} from '../platform/migrations.ts'
import type { Output } from './output.ts'

/**
 * `migrate`: applies this release's missing migrations, so that the first start of new code need
 * not. `migrate --plan`: prints them and changes nothing. Throws ConfigFault if the database
 * demands a newer release.
 */
export async function migrateCommand(
  _config: Config,
  databaseUrl: string,
  args: readonly string[],
  out: Output,
  release?: Release,
): Promise<number> {
  let given
  try {
    given = parseArgs({ args: [...args], options: { plan: { type: 'boolean' } } })
  } catch {
    out.refuse('npm run portal -- migrate [--plan] [--json]')
    return 64
  }
  const ours = release ?? (await thisRelease())
  const plan = await planOf(databaseUrl, ours)
  out.fields({
    release: ours.number,
    oldestRelease: plan.oldestRelease,
    appliedByNewerRelease: plan.unknown,
  })
  if (given.values.plan === true) {
    tellPlan(plan, ours.number, out)
    judgePlan(plan, ours)
    return 0
  }
  const applied = await migrate(databaseUrl, ours)
  for (const name of applied) out.line(`applied: ${name}`)
  out.line(applied.length === 0 ? 'Nothing is missing.' : `${applied.length} applied.`)
  out.fields({ applied })
  return 0
}

function tellPlan(plan: MigrationPlan, releaseNumber: number, out: Output): void {
  out.line(
    `This is release ${releaseNumber}. Release ${plan.oldestRelease} and newer ones may run on ` +
      'the database as it is.',
  )
  for (const name of plan.unknown) out.line(`applied by a newer release: ${name}`)
  for (const migration of plan.missing)
    out.line(`missing: ${migration.name}${demandsOf(migration)}`)
  if (plan.missing.length === 0) out.line('Nothing is missing.')
  out.fields({
    missing: plan.missing.map(({ name, oldestRelease, contract, inTransaction }) => ({
      name,
      oldestRelease,
      contract: contract ?? null,
      inTransaction,
    })),
  })
}

function demandsOf({ oldestRelease, contract, inTransaction }: Migration): string {
  const demands = [
    ...(oldestRelease > 1
      ? [`older releases than ${oldestRelease} can neither run beside it nor come back`]
      : []),
    ...(contract === undefined ? [] : [`contract: ${contract}`]),
    ...(inTransaction ? [] : ['without a transaction']),
  ]
  return demands.length === 0 ? '' : `  (${demands.join('; ')})`
}
