// The channel to whoever started this process: descriptor 3, JSON lines both ways. PHP has none of
// this process's descriptors, and what it writes to the devices that php-wasm gives it (/dev/tty,
// /dev/stdout, …) comes as text through `print` in php.js: none of it can be taken for a word of
// the container.
import fs from 'node:fs'
import net from 'node:net'
import readline from 'node:readline'

const descriptor = 3

/**
 * Opens the channel. A process that was started without one ends with an error.
 * @param {{onLine: (line: object) => void, onEnd: () => void}} on `onEnd`: the parent is gone
 * @returns `send(line)`, and `sendLast(line)` for a process that ends right after: `sendLast` has
 * written the line when it returns
 */
export function openControl({ onLine, onEnd }) {
  const socket = new net.Socket({ fd: descriptor, readable: true, writable: true })
  socket.on('error', onEnd)
  const lines = readline.createInterface({ input: socket })
  lines.on('line', (line) => {
    let order
    try {
      order = JSON.parse(line)
    } catch {
      return
    }
    onLine(order)
  })
  lines.on('close', onEnd)
  return {
    send(line) {
      socket.write(`${JSON.stringify(line)}\n`)
    },
    sendLast(line) {
      try {
        fs.writeSync(descriptor, `${JSON.stringify(line)}\n`)
      } catch {
        // The parent has exited, or does not read: the line is lost.
      }
    },
  }
}
