// A container whose pages come from WordPress on PHP-FPM in a container of the engine.
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { runContainer } from './container.js'
import { MailSpool } from './mail-spool.js'
import { ownCallsSocket, writeNativeFiles } from './native-files.js'
import { NativePhp } from './native-php.js'
import { NativeTalk } from './native-talk.js'

/** Memory that a request in PHP takes from the plan, MB. */
const requestMb = 48
const mostRequests = 48
const openMs = 60_000
const tryMs = 20

/** How many requests PHP handles at the same time. */
const mostOf = ({ memoryMb }) =>
  Math.min(mostRequests, Math.max(2, Math.floor(memoryMb / requestMb)))

/** Resolves when the socket accepts connections. */
function opened(socketPath) {
  const until = performance.now() + openMs
  return new Promise((resolve, reject) => {
    const knock = () => {
      const socket = net.connect({ path: socketPath })
      socket.once('connect', () => {
        socket.destroy()
        resolve()
      })
      socket.once('error', (error) => {
        if (performance.now() > until)
          reject(new Error(`PHP does not answer: ${error.code ?? error.message}`))
        else setTimeout(knock, tryMs)
      })
    }
    knock()
  })
}

runContainer((order, say) => {
  const now = { ...order }
  writeNativeFiles(now)
  // A socket's address may have at most 107 bytes, and the path of the site's folder may be longer.
  // This short path leads to the same folder.
  const folder = `/proc/self/fd/${fs.openSync(path.join(now.internalDir, 'talk'), 'r')}`
  const talk = new NativeTalk()
  const mail = new MailSpool({
    dir: now.mailDir,
    isOn: now.mail,
    log: (text) => say({ s: 'php', m: text }),
    onLetter: () => say({ ev: 'mail' }),
  })
  const socketPath = path.join(folder, 'php.sock')
  const open = talk.listen(path.join(folder, 'talk.sock')).then(() => opened(socketPath))
  return {
    most: mostOf(now),
    isCheap: true,
    ownCalls: path.join(folder, ownCallsSocket),
    /** The plan's size changed. */
    resize(limits) {
      Object.assign(now, limits)
      return mostOf(now)
    },
    start() {
      const one = new NativePhp({ socketPath, talk, mail, order: now, log: say })
      one.ready = open
      return one
    },
  }
})
