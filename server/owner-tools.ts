/** The calls by which an owner works on his server: files, SFTP, PHP, commands, database. */
import type { Config } from './config.ts'
import type { Http } from './platform/http.ts'
import type { Limits } from './platform/limits.ts'
import { siteSftp, type SiteSftpDeps } from './site-sftp.ts'
import * as wordpress from './wordpress/index.ts'

type DepsOf<Routes extends (http: Http, deps: never) => void> = Parameters<Routes>[1]

type OwnerToolsDeps = SiteSftpDeps &
  Omit<DepsOf<typeof wordpress.pageCacheRoutes>, 'purges'> &
  Omit<DepsOf<typeof wordpress.phpRoutes>, 'pageSeconds' | 'changes'> &
  Omit<DepsOf<typeof wordpress.sftpRoutes>, 'address' | 'newKeys'> &
  Omit<DepsOf<typeof wordpress.databaseRoutes>, 'acts'> & { readonly limits: Limits }

/** Answers the SFTP server, not started yet; null: this process has none. */
export function ownerTools(
  http: Http,
  config: Parameters<typeof siteSftp>[0] & Pick<Config, 'WORDPRESS_PAGE_SECONDS'>,
  deps: OwnerToolsDeps,
): wordpress.SftpServer | null {
  const { limits } = deps
  wordpress.pageCacheRoutes(http, { ...deps, purges: limits.limit('purge') })
  wordpress.fileRoutes(http, { ...deps, acts: limits.limit('file-act') })
  const sftp = siteSftp(config, deps)
  wordpress.sftpRoutes(http, {
    ...deps,
    address: () => sftp?.address() ?? null,
    newKeys: limits.limit('ssh-key'),
  })
  wordpress.phpRoutes(http, {
    ...deps,
    pageSeconds: config.WORDPRESS_PAGE_SECONDS,
    changes: limits.limit('php-settings'),
  })
  wordpress.consoleRoutes(http, {
    ...deps,
    commands: limits.limit('site-command'),
  })
  wordpress.databaseRoutes(http, { ...deps, acts: limits.limit('site-database') })
  wordpress.visitorRoutes(http, deps)
  return sftp
}
