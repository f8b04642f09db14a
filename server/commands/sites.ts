import type { Config } from '../config.ts'
import { connect } from '../platform/db.ts'
import { downSites, stuckWork } from '../wordpress/index.ts'
import type { Output } from './output.ts'

/**
 * `sites`: servers that should answer their visitors and do not, with time and reason, and work on
 * servers that does not finish, with its latest error. Exit code 1 if there are any.
 */
export async function sitesCommand(
  _config: Config,
  databaseUrl: string,
  options: readonly string[],
  out: Output,
): Promise<number> {
  if (options.length > 0) {
    out.refuse('npm run portal -- sites [--json]')
    return 64
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    const down = await downSites(db)
    for (const { id, name, customerEmail, since, reason } of down)
      out.line(`${id}  ${name}  ${customerEmail}  since ${since.toISOString()}  ${reason}`)
    out.line(`${down.length} sites should answer and do not.`)
    const stuck = await stuckWork(db)
    for (const { siteId, name, customerEmail, node, work, since, attempts, reason } of stuck)
      out.line(
        `${siteId}  ${name}  ${customerEmail}  on ${node}  ${work.replace('_', ' ')}  ` +
          `${since === null ? 'no job' : `since ${since.toISOString()}`}  ` +
          `${attempts} attempts  ${reason ?? '-'}`,
      )
    out.line(`${stuck.length} pieces of work on sites do not come to an end.`)
    out.fields({ down, stuck })
    return down.length + stuck.length === 0 ? 0 : 1
  } finally {
    await close()
  }
}
