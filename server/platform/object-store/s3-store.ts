/** Files in a bucket of S3: `s3://bucket/prefix`. */
import { Readable, Writable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { S3Bucket, S3Failure, type S3Settings } from './s3-client.ts'
import { StoreFault, endStream, NoSuchFile, type ObjectStore } from './store.ts'

/** The smallest that S3 takes is 5 MB. Twice as much is held at the most. */
const firstPartBytes = 16 * 1_048_576
/** S3 allows 10 000 parts: their size grows, so that a file of terabytes fits. */
const partsOfOneSize = 1000

/** Takes a file of any size in parts of a bounded size. */
class PartsSink extends Writable {
  readonly #bucket: S3Bucket
  readonly #key: string
  readonly #tags: string[] = []
  readonly #partBytes: number
  #uploadId: string | undefined
  /** The part that is on its way, or nothing. */
  #sending: Promise<void> = Promise.resolve()
  #held: Buffer[] = []
  #heldBytes = 0

  constructor(bucket: S3Bucket, key: string, partBytes: number) {
    super({ highWaterMark: 1_048_576 })
    this.#bucket = bucket
    this.#key = key
    this.#partBytes = partBytes
  }

  #take(): Buffer {
    const part = Buffer.concat(this.#held)
    this.#held = []
    this.#heldBytes = 0
    return part
  }

  async #sendPart(): Promise<void> {
    this.#uploadId ??= await this.#bucket.beginParts(this.#key)
    const number = this.#tags.length + 1
    this.#tags.push(await this.#bucket.putPart(this.#key, this.#uploadId, number, this.#take()))
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    const limit = this.#partBytes * 2 ** Math.floor(this.#tags.length / partsOfOneSize)
    if (this.#heldBytes < limit) done()
    else (this.#sending = this.#sendPart()).then(() => done(), done)
  }

  async #finish(): Promise<void> {
    if (this.#uploadId === undefined) return await this.#bucket.put(this.#key, this.#take())
    if (this.#heldBytes > 0) await this.#sendPart()
    await this.#bucket.endParts(this.#key, this.#uploadId, this.#tags)
    this.#uploadId = undefined
  }

  override _final(done: (error?: Error) => void): void {
    this.#finish().then(() => done(), done)
  }

  /** Parts of an upload that is not ended are stored, and paid for, until they are dropped. */
  async #drop(): Promise<void> {
    await this.#sending.catch(() => undefined)
    if (this.#uploadId !== undefined) await this.#bucket.dropParts(this.#key, this.#uploadId)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#drop()
      .catch(() => undefined)
      .finally(() => done(error))
  }
}

/**
 * @param partBytes what tests make smaller
 * @throws StoreFault where `where` names no bucket
 */
export function s3Store(
  where: string,
  settings: S3Settings,
  partBytes = firstPartBytes,
): ObjectStore {
  const [, name, path = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(where) ?? []
  if (name === undefined)
    throw new StoreFault(`${where} names no bucket: write s3://bucket or s3://bucket/prefix.`)
  const bucket = new S3Bucket(settings, name)
  const prefix = path.replace(/\/*$/, '') === '' ? '' : `${path.replace(/\/*$/, '')}/`
  const isMissing = (error: unknown): boolean => error instanceof S3Failure && error.status === 404
  return {
    place: where,
    async list() {
      return (await bucket.list(prefix)).map((key) => key.slice(prefix.length))
    },
    async put(file, write) {
      const sink = new PartsSink(bucket, prefix + file, partBytes)
      try {
        await write(sink)
        if (!sink.writableFinished) throw new Error(`${file} was not written to its end`)
      } catch (error) {
        await endStream(sink)
        throw error
      }
    },
    async get(file, part) {
      try {
        return Readable.fromWeb((await bucket.get(prefix + file, part)) as WebStream)
      } catch (error) {
        throw isMissing(error) ? new NoSuchFile(file) : error
      }
    },
    remove: (file) => bucket.remove(prefix + file),
  }
}
