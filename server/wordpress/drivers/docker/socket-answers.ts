// Waits until a server accepts connections on a socket in a folder.
import { constants } from 'node:fs'
import fs from 'node:fs/promises'
import net from 'node:net'

const tryMs = 30

/** Whether a server sends something to a new connection. */
function greets(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ path: socketPath })
    const answer = (yes: boolean) => () => {
      socket.destroy()
      resolve(yes)
    }
    socket.once('data', answer(true))
    socket.once('error', answer(false))
    socket.once('close', answer(false))
    socket.setTimeout(2_000, answer(false))
  })
}

/** Resolves when the server answers; rejects after `withinMs`, and with the reason of `cut`. */
export async function answersAt(
  folder: string,
  name: string,
  withinMs: number,
  cut: AbortSignal,
): Promise<void> {
  // A socket's address has at most 107 bytes, and the folder's path may be longer: this address is
  // short.
  const opened = await fs.open(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    const until = performance.now() + withinMs
    while (!(await greets(`/proc/self/fd/${opened.fd}/${name}`))) {
      cut.throwIfAborted()
      if (performance.now() > until) throw new Error(`no answer in ${withinMs / 1_000} s`)
      await new Promise((resolve) => setTimeout(resolve, tryMs))
    }
  } finally {
    await opened.close()
  }
}
