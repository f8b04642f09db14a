// Frames that a PHP process writes for the visitor, on a descriptor of its own: one byte for the
// kind, four for the length, and the content. PHP blocks while the pipe is full, so a large answer
// needs little memory in either process.
import fs from 'node:fs'

/**
 * `head`: JSON `{status, headers: [[name, value], …]}`; `data`; `end`: JSON `{exitCode, trailers}`;
 * `wrote`: JSON `{tags}`, what PHP has written so far (page-tags.js).
 */
export const kinds = { head: 1, data: 2, end: 3, wrote: 4 }
const names = { 1: 'head', 3: 'end', 4: 'wrote' }
const prefixBytes = 5
/** Longest JSON of a head or an end, bytes: a head has few headers, and an end has none. */
const longestJson = 1_048_576

/** Writes a frame and returns when the kernel has all of it. */
export function writeFrame(descriptor, kind, content) {
  const frame = Buffer.allocUnsafe(prefixBytes + content.length)
  frame[0] = kind
  frame.writeUInt32BE(content.length, 1)
  frame.set(content, prefixBytes)
  for (let at = 0; at < frame.length;) at += fs.writeSync(descriptor, frame, at)
}

/** Reassembles frames from the chunks of a stream. Data is passed on as it arrives, in pieces. */
export class FrameReader {
  #on
  #kind = 0
  #left = 0
  #held = []
  #heldBytes = 0

  /**
   * @param {{head: (value: object) => void, data: (piece: Buffer) => void, end: (value: object) =>
   * void, wrote: (value: object) => void}} on
   */
  constructor(on) {
    this.#on = on
  }

  /** @throws when the bytes are no valid frame */
  push(chunk) {
    let rest = this.#heldBytes > 0 ? Buffer.concat([...this.#held, chunk]) : chunk
    this.#held = []
    this.#heldBytes = 0
    while (rest.length > 0) {
      if (this.#kind === 0) {
        if (rest.length < prefixBytes) break
        this.#kind = rest[0]
        this.#left = rest.readUInt32BE(1)
        rest = rest.subarray(prefixBytes)
        if (this.#kind < kinds.head || this.#kind > kinds.wrote) throw new Error('no frame')
        if (this.#kind !== kinds.data && this.#left > longestJson) throw new Error('frame too long')
      }
      if (this.#kind === kinds.data) {
        const piece = rest.subarray(0, this.#left)
        rest = rest.subarray(piece.length)
        this.#left -= piece.length
        if (this.#left === 0) this.#kind = 0
        if (piece.length > 0) this.#on.data(piece)
        continue
      }
      if (rest.length < this.#left) break
      const value = JSON.parse(rest.toString('utf8', 0, this.#left))
      rest = rest.subarray(this.#left)
      const kind = this.#kind
      this.#kind = 0
      this.#on[names[kind]](value)
    }
    if (rest.length > 0) {
      // The beginning of a frame is kept until the rest arrives.
      this.#held.push(rest)
      this.#heldBytes = rest.length
    }
  }
}
