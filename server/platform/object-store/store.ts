/** A place for files by name: a folder, or a bucket of S3. */
import type { Readable, Writable } from 'node:stream'

export interface ObjectStore {
  /** The place in the operator's own notation, for messages. */
  readonly place: string
  /**
   * The names of all files, with `/` between their parts; empty if the place does not exist yet.
   */
  list(): Promise<string[]>
  /**
   * The file is there once `write` has ended the stream that it is given, wholly or not at all. An
   * older one of the same name is replaced.
   */
  put(name: string, write: (into: Writable) => Promise<void>): Promise<void>
  /**
   * The file, or the bytes from `start` to `end` of it, both included. Throws NoSuchFile.
   */
  get(name: string, part?: { readonly start: number; readonly end: number }): Promise<Readable>
  /** Does nothing where there is no such file. */
  remove(name: string): Promise<void>
}

export class NoSuchFile extends Error {
  constructor(name: string) {
    super(`${name} is missing.`)
  }
}

/** A fault of a place or of the request to it: a sentence for the operator. */
export class StoreFault extends Error {}

/** Ends a stream that failed; resolves once it holds nothing any more. */
export async function endStream(stream: Writable): Promise<void> {
  if (stream.closed) return
  await new Promise<void>((resolve) => {
    stream.once('close', resolve)
    // The error is reported as the failure of `write`.
    stream.once('error', () => undefined)
    stream.destroy()
  })
}
