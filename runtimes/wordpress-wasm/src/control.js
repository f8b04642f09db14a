// The channel to the process that started this one: descriptor 3, JSON lines both ways. PHP has
// none of this process's descriptors. What PHP writes to its devices (/dev/tty, /dev/stdout, …)
// arrives as text through `print` in php.js. So PHP cannot send messages in the container's name.
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
        // The parent has exited or does not read, so the line is lost.
      }
    },
  }
}
