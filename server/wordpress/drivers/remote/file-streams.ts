/**
 * Sends whole files between machines, on a stream of its own: as pieces of JSON they take five
 * times the processor time. The asking end writes one line, `{"op":"read","name":…}` or
 * `{"op":"write","name":…,"bytes":…}`. A read is answered with its length on a line and the bytes.
 * A write, whose bytes follow its line, is answered with `ok` on a line once the file is written.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod/mini'

const readBytes = 1_048_576
const longestLine = 1_000
const lineEnd = 0x0a
const done = 'ok'
const cutOff = (): Error => new Error('the stream ended too soon')

const Order = z.discriminatedUnion('op', [
  z.object({ op: z.literal('read'), name: z.string() }),
  z.object({ op: z.literal('write'), name: z.string(), bytes: z.int().check(z.minimum(0)) }),
])
type Order = z.infer<typeof Order>

/** The bytes up to the end of a line; bytes after it are put back. */
async function lineOf(stream: Duplex): Promise<string> {
  let held = Buffer.alloc(0)
  for (;;) {
    const chunk = stream.read() as Buffer | null
    if (chunk) {
      held = Buffer.concat([held, chunk])
      const end = held.indexOf(lineEnd)
      if (end >= 0 && end <= longestLine) {
        if (end + 1 < held.length) stream.unshift(held.subarray(end + 1))
        return held.toString('utf8', 0, end)
      }
      if (held.length > longestLine) throw new Error('the line is too long')
      continue
    }
    if (stream.destroyed || stream.readableEnded) throw cutOff()
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        for (const event of ['readable', 'end', 'close']) stream.off(event, wake)
        resolve()
      }
      for (const event of ['readable', 'end', 'close']) stream.once(event, wake)
    })
  }
}

/** Exactly `bytes` of the stream, which stays open. */
async function* taken(stream: Duplex, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes
  if (left === 0) return
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    const piece = (chunk as Buffer).subarray(0, left)
    left -= piece.length
    yield piece
    if (left === 0) return
  }
  throw cutOff()
}

const ask = (stream: Duplex, order: Order): boolean => stream.write(`${JSON.stringify(order)}\n`)

/**
 * Answers one order. Rejects where it was not carried out; the stream is destroyed then.
 * @param pathOf throws for an invalid name
 */
export async function serveFileStream(
  stream: Duplex,
  pathOf: (name: string) => string,
): Promise<void> {
  try {
    const order = Order.parse(JSON.parse(await lineOf(stream)))
    const file = pathOf(order.name)
    if (order.op === 'write') {
      await pipeline(taken(stream, order.bytes), createWriteStream(file))
      stream.end(`${done}\n`)
      return
    }
    const { size } = await fs.stat(file)
    stream.write(`${size}\n`)
    if (size === 0) stream.end()
    else await pipeline(createReadStream(file, { end: size - 1, highWaterMark: readBytes }), stream)
  } catch (error) {
    // The other end sees only that too few bytes came, not the reason.
    stream.destroy()
    throw error
  }
}

/**
 * Reads a file of the other end into one that is open here. Rejects where it does not arrive in
 * full.
 */
export async function downloadOver(
  stream: Duplex,
  name: string,
  file: fs.FileHandle,
): Promise<void> {
  try {
    ask(stream, { op: 'read', name })
    const bytes = z.coerce
      .number()
      .check(z.int(), z.minimum(0))
      .parse(await lineOf(stream))
    for await (const piece of taken(stream, bytes)) await file.appendFile(piece)
  } finally {
    stream.destroy()
  }
}

/** Writes a file that is open here to the other end. Rejects where it was not written there. */
export async function uploadOver(stream: Duplex, name: string, file: fs.FileHandle): Promise<void> {
  try {
    const { size } = await file.stat()
    ask(stream, { op: 'write', name, bytes: size })
    if (size > 0) {
      const from = file.createReadStream({
        start: 0,
        end: size - 1,
        highWaterMark: readBytes,
        autoClose: false,
      })
      await pipeline(from, stream, { end: false })
    }
    if ((await lineOf(stream)) !== done) throw cutOff()
  } finally {
    stream.destroy()
  }
}
