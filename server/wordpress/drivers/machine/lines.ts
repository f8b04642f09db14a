// Reads lines of a stream from an untrusted sender: no line costs more memory than its limit.
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/**
 * Calls `onLine` with each line of the stream, without its end (`\n` or `\r\n`). A line above
 * `maxLength` UTF-16 units is cut there, and its rest dropped; `onTooLong` is called once for such
 * a line. Text after the last line's end counts as a line when the stream ends.
 */
export function readLines(
  stream: Readable,
  maxLength: number,
  onLine: (line: string) => void,
  onTooLong: () => void = () => {},
): void {
  const decoder = new StringDecoder('utf8')
  let begun = ''
  let isCut = false
  const take = (text: string): void => {
    if (isCut) return
    begun += text
    if (begun.length <= maxLength) return
    begun = begun.slice(0, maxLength)
    isCut = true
    onTooLong()
  }
  const finish = (): void => {
    const line = begun.endsWith('\r') ? begun.slice(0, -1) : begun
    begun = ''
    isCut = false
    onLine(line)
  }
  stream.on('data', (chunk: Buffer) => {
    const parts = decoder.write(chunk).split('\n')
    for (const [index, part] of parts.entries()) {
      take(part)
      if (index < parts.length - 1) finish()
    }
  })
  stream.once('end', () => {
    if (begun !== '') finish()
  })
  stream.on('error', () => {})
}
