/** Counts and hashes bytes on their way, and keeps none of them. */
import { createHash } from 'node:crypto'
import { Transform, Writable, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { NoSuchFile, type ObjectStore } from '../platform/object-store/index.ts'
import { BackupFault } from './fault.ts'

export interface FileFigures {
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

export interface Tally {
  readonly through: Transform
  /** Call it after all data has passed. */
  figures(): FileFigures
}

export function createTally(): Tally {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    through: new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk)
        bytes += chunk.length
        done(null, chunk)
      },
    }),
    figures: () => ({ bytes, sha256: hash.digest('hex') }),
  }
}

export const nowhere = (): Writable =>
  new Writable({
    write(_chunk, _encoding, done) {
      done()
    },
  })

/**
 * Reads a file of a backup into `into` and compares it with the manifest.
 * @throws BackupFault when it is missing or differs
 */
export async function readChecked(
  store: ObjectStore,
  name: string,
  expected: FileFigures,
  into: Writable = nowhere(),
): Promise<void> {
  const tally = createTally()
  let from: Readable
  try {
    from = await store.get(name)
  } catch (error) {
    throw error instanceof NoSuchFile ? new BackupFault(error.message) : error
  }
  await pipeline(from, tally.through, into)
  const { bytes, sha256 } = tally.figures()
  if (bytes !== expected.bytes)
    throw new BackupFault(`${name} has ${bytes} bytes; ${expected.bytes} were written.`)
  if (sha256 !== expected.sha256)
    throw new BackupFault(`${name} is not what was written: its SHA-256 differs.`)
}
