/** Common parts of the commands about backups of the portal. */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { StoreFault } from '../platform/object-store/index.ts'
import type { Output } from './output.ts'

interface Wish {
  readonly where: string
  readonly passphrase: string | undefined
}

/** Undefined: the arguments are invalid, and the usage was printed. */
export function readWish(
  name: string,
  config: Config,
  args: readonly string[],
  out: Output,
): Wish | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { 'passphrase-file': { type: 'string' } },
    })
    const [where, ...more] = positionals
    if (where === undefined || where === '' || more.length > 0) throw new Error('where')
    const file = values['passphrase-file']
    return {
      where,
      passphrase: file === undefined ? config.BACKUP_PASSPHRASE : readFileSync(file, 'utf8').trim(),
    }
  } catch (error) {
    const unread = (error as NodeJS.ErrnoException).syscall !== undefined
    out.refuse(
      unread
        ? `The file of the passphrase cannot be read: ${(error as Error).message}`
        : `npm run portal -- ${name} <folder | s3://bucket/prefix> ` +
            '[--passphrase-file <file>] [--json]',
    )
    return undefined
  }
}

/** Runs `work`; for a fault of the backup or the request, prints the sentence and answers 1. */
export async function orRefuse(out: Output, work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error
    out.refuse(error.message)
    return 1
  }
}
