import { failing } from '../certificates/index.ts'
import type { Config } from '../config.ts'
import { connect } from '../platform/db.ts'
import type { Output } from './output.ts'

/** A longer list would not be read. */
const shownAtOnce = 200

/**
 * `certificates`: host names whose last try for a certificate failed, with the reason and the next
 * try. Exit code 1 if there are any.
 */
export async function certificatesCommand(
  _config: Config,
  databaseUrl: string,
  options: readonly string[],
  out: Output,
): Promise<number> {
  if (options.length > 0) {
    out.refuse('npm run portal -- certificates [--json]')
    return 64
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    const found = await failing(db, shownAtOnce)
    for (const one of found) {
      const until = one.until === null ? 'none' : `valid until ${one.until.toISOString()}`
      out.line(
        `${one.name}  ${until}  ${one.problem}: ${one.detail}  tried ${one.attempts} times, ` +
          `again ${one.nextAt.toISOString()}`,
      )
    }
    out.line(`${found.length} host names wait for a certificate that could not be had.`)
    out.fields({ failing: found })
    return found.length === 0 ? 0 : 1
  } finally {
    await close()
  }
}
