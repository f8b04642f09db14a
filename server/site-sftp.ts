/** SFTP of this process: its port, and the address for customers. */
import type { Config } from './config.ts'
import type { Clock } from './platform/clock.ts'
import type { Database } from './platform/db.ts'
import type { Limits } from './platform/limits.ts'
import type { Log } from './platform/log.ts'
import type { Secrets } from './platform/secrets.ts'
import { createSftp, hostKeyOf, type SftpServer, type WordpressDriver } from './wordpress/index.ts'

/** The default if the operator sets none; packaging/compose.yaml publishes it. */
export const usualPort = 8022

export interface SiteSftpDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly secrets: Secrets
  readonly limits: Limits
  readonly driver: WordpressDriver
}

/** null: this process has no SFTP. */
export function siteSftp(
  config: Pick<Config, 'ROLES' | 'HOST' | 'SFTP_PORT' | 'SFTP_ADDRESS' | 'portalUrl'>,
  { secrets, limits, ...deps }: SiteSftpDeps,
): SftpServer | null {
  if (!config.ROLES.has('api') || config.SFTP_PORT === 'off') return null
  const port = config.SFTP_PORT ?? usualPort
  const told = new URL(config.SFTP_ADDRESS ? `ssh://${config.SFTP_ADDRESS}` : config.portalUrl)
  return createSftp({
    ...deps,
    hostKey: hostKeyOf(secrets.derive('sftp-host-key')),
    listenOn: { host: config.HOST, port },
    mayBeTaken: config.SFTP_PORT === undefined,
    shown: { host: told.hostname, port: config.SFTP_ADDRESS ? Number(told.port) : port },
    failures: limits.limit('sftp-sign-in'),
  })
}
