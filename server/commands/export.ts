import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { accountingExports } from '../../contract/operator-money.ts'
import { accountingCsv } from '../billing/index.ts'
import { catalogInUse, timeZoneOf } from '../catalog/index.ts'
import type { Config } from '../config.ts'
import { connect } from '../platform/db.ts'
import type { Output } from './output.ts'

const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))

/**
 * `export journal|tax|documents|deferred <from> <to> <file>`: writes the file; days are in the
 * seller's time zone.
 */
export async function exportCommand(
  config: Config,
  databaseUrl: string,
  [name, from, to, file]: readonly string[],
  out: Output,
): Promise<number> {
  const wanted = accountingExports.find((known) => known === name)
  if (!wanted || !isDay(from) || !isDay(to) || from > to || file === undefined) {
    out.refuse(
      `npm run portal -- export ${accountingExports.join('|')} <from> <to> <file>, ` +
        'days as 2026-11-30',
    )
    return 64
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    const zone = timeZoneOf(await catalogInUse(db, config.CATALOG), 'VN')
    const written = createWriteStream(file, { flags: 'wx', mode: 0o600 })
    await pipeline(Readable.from(accountingCsv({ db, zone }, wanted, { from, to })), written)
    out.line(`${file}: ${written.bytesWritten} bytes.`)
    out.fields({ export: wanted, from, to, file, bytes: written.bytesWritten })
    return 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    if (!['EEXIST', 'EACCES', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error
    out.refuse(
      (error as NodeJS.ErrnoException).code === 'EEXIST'
        ? `${file} is there already: choose another name.`
        : `${file} cannot be written: ${(error as Error).message}`,
    )
    return 1
  } finally {
    await close()
  }
}
