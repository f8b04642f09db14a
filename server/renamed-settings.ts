/**
 * Settings under a former name, which goes on working: the value counts unless the new name is set.
 */

/** The former name of each, and its name. */
const renamed = {
  REGISTRATIONS_AN_HOUR: 'REGISTRATIONS_PER_HOUR',
  DNS_TRANSFER_TO: 'DNS_AXFR_ALLOW',
  BACKUPS_KEPT: 'BACKUP_RETENTION',
  BACKUPS_KEPT_AFTER_DELETION_DAYS: 'BACKUP_RETENTION_AFTER_DELETION_DAYS',
} as const

type Env = Readonly<Record<string, string | undefined>>

/** The environment with each setting under its name of today. */
export function underNewNames(env: Env): Env {
  const fresh: Record<string, string | undefined> = { ...env }
  for (const [former, name] of Object.entries(renamed)) fresh[name] ??= env[former]
  return fresh
}

/** One sentence per former name that is set. */
export function formerNames(env: Env): string[] {
  return Object.entries(renamed)
    .filter(([former]) => env[former] !== undefined)
    .map(([former, name]) =>
      env[name] === undefined
        ? `${former} is the former name of ${name}: it still works, rename it.`
        : `${former} is the former name of ${name}, which is set as well: ${former} is ignored, ` +
          'remove it.',
    )
}
