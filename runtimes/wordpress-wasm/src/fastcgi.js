// A FastCGI client for PHP-FPM: one connection per request. FastCGI Specification 1.0, of 1996.
import net from 'node:net'

const version = 1
const kinds = { begin: 1, abort: 2, end: 3, params: 4, stdin: 5, stdout: 6, stderr: 7 }
const responder = 1
const requestId = 1
const headBytes = 8
const longestRecord = 65_528

function record(kind, content) {
  const head = Buffer.alloc(headBytes)
  head[0] = version
  head[1] = kind
  head.writeUInt16BE(requestId, 2)
  head.writeUInt16BE(content.length, 4)
  return Buffer.concat([head, content])
}

function* records(kind, content) {
  for (let at = 0; at < content.length; at += longestRecord)
    yield record(kind, content.subarray(at, at + longestRecord))
}

function lengthOf(bytes) {
  if (bytes.length < 128) return Buffer.from([bytes.length])
  const long = Buffer.alloc(4)
  long.writeUInt32BE((bytes.length | 0x8000_0000) >>> 0)
  return long
}

function pair(name, value) {
  const [key, text] = [Buffer.from(name), Buffer.from(String(value))]
  return Buffer.concat([lengthOf(key), lengthOf(text), key, text])
}

const empty = Buffer.alloc(0)

/**
 * Sends a request.
 * @param {string} socketPath
 * @param {Record<string, string>} params
 * @param {AsyncIterable<Buffer> | Iterable<Buffer>} body
 * @param {{stdout: (piece: Buffer) => void, stderr: (piece: Buffer) => void, end: (appStatus:
 * number) => void, lost: (why: string) => void}} on `end` or `lost` comes last, and once
 * @returns {{pause: () => void, resume: () => void, destroy: () => void}}
 */
export function askFastcgi(socketPath, params, body, on) {
  const socket = net.connect({ path: socketPath })
  let isOver = false
  let held = empty
  const over = (tell) => {
    if (isOver) return
    isOver = true
    tell()
    socket.destroy()
  }
  socket.on('error', (error) => over(() => on.lost(error.message)))
  socket.on('close', () => over(() => on.lost('the connection to PHP was closed')))
  socket.on('data', (chunk) => {
    let rest = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
    while (!isOver && rest.length >= headBytes) {
      const [kind, length, padding] = [rest[1], rest.readUInt16BE(4), rest[6]]
      const whole = headBytes + length + padding
      if (rest.length < whole) break
      const content = rest.subarray(headBytes, headBytes + length)
      rest = rest.subarray(whole)
      if (kind === kinds.stdout && length > 0) on.stdout(content)
      else if (kind === kinds.stderr && length > 0) on.stderr(content)
      else if (kind === kinds.end) over(() => on.end(length >= 4 ? content.readUInt32BE(0) : 255))
    }
    held = rest
  })
  const send = async () => {
    socket.write(record(kinds.begin, Buffer.from([0, responder, 0, 0, 0, 0, 0, 0])))
    const all = Buffer.concat(Object.entries(params).map(([name, value]) => pair(name, value)))
    for (const one of records(kinds.params, all)) socket.write(one)
    socket.write(record(kinds.params, empty))
    for await (const piece of body)
      for (const one of records(kinds.stdin, piece))
        if (!socket.write(one))
          await new Promise((resolve) => {
            socket.once('drain', resolve)
            socket.once('close', resolve)
          })
    socket.write(record(kinds.stdin, empty))
  }
  send().catch((error) => over(() => on.lost(error.message)))
  return {
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    destroy: () => over(() => on.lost('it was given up')),
  }
}
