/**
 * Sends archives between machines: a node on another machine does not see the portal's disk. The
 * files wait in a folder of the node, under names that the node makes, and go on streams of their
 * own; a node of a release without streams gets pieces over the line of calls.
 */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { Duplex } from 'node:stream'
import type { MessageConnection } from 'vscode-jsonrpc/node'
import { DriverFailure } from '../../../platform/errors.ts'
import { callsOver, serveOver } from '../../../platform/rpc.ts'
import { downloadOver, serveFileStream, uploadOver } from './file-streams.ts'

/** A node's calls about its files; `name` is one that `begin` answered. */
export type FileCalls = {
  begin: () => { name: string; path: string }
  read: (name: string, offset: number) => string
  write: (name: string, offset: number, base64: string) => void
  remove: (name: string) => void
}
const prefix = 'file'
const pieceBytes = 1_048_576
/** A file that nobody took away for this long was left by a portal that ended. */
const keptMs = 24 * 3_600_000
const nameShape = /^[0-9a-f-]{36}$/

function pathIn(folder: string, name: string): string {
  if (!nameShape.test(name)) throw new Error('no name of a file')
  return path.join(folder, name)
}

/** Answers an order of a stream about the files of `folder`; rejects where it could not. */
export const serveStream = (stream: Duplex, folder: string): Promise<void> =>
  serveFileStream(stream, (name) => pathIn(folder, name))

/** Serves the files of `folder`, which is made when it is needed. */
export function serveFiles(line: MessageConnection, folder: string): void {
  const pathOf = (name: string): string => pathIn(folder, name)
  serveOver<FileCalls>(line, prefix, {
    async begin() {
      await fs.mkdir(folder, { recursive: true })
      for (const old of await fs.readdir(folder)) {
        const found = await fs.stat(path.join(folder, old)).catch(() => undefined)
        if (found && Date.now() - found.mtimeMs > keptMs)
          await fs.rm(path.join(folder, old), { force: true })
      }
      const name = randomUUID()
      return { name, path: pathOf(name) }
    },
    async read(name, offset) {
      const file = await fs.open(pathOf(name))
      try {
        const piece = Buffer.alloc(pieceBytes)
        const { bytesRead } = await file.read(piece, 0, pieceBytes, offset)
        return piece.subarray(0, bytesRead).toString('base64')
      } finally {
        await file.close()
      }
    },
    async write(name, offset, base64) {
      const file = await fs.open(pathOf(name), offset === 0 ? 'w' : 'r+')
      try {
        const piece = Buffer.from(base64, 'base64')
        // The length is given, because with null in its place the position would be ignored.
        await file.write(piece, 0, piece.length, offset)
      } finally {
        await file.close()
      }
    },
    remove: (name) => fs.rm(pathOf(name), { force: true }),
  })
}

export interface NodeFiles {
  /**
   * Has `make` write a file on the node, and copies it to `to` here.
   * @param isKept true: the copy survives a power cut
   */
  fetch<T>(
    to: string,
    make: (there: string) => Promise<T>,
    how: { readonly isKept: boolean },
  ): Promise<T>
  /** Copies the file `from` to the node, and has `use` read the copy. */
  send<T>(from: string, use: (there: string) => Promise<T>): Promise<T>
}

/**
 * @param openStream opens a stream to the node; null: there are none, and pieces go over the line
 */
export function nodeFiles(
  line: MessageConnection,
  gone: string,
  openStream: (() => Promise<Duplex>) | null,
): NodeFiles {
  const call = callsOver<FileCalls>(line, prefix, gone)

  /** Null: the node has no streams, or cannot be reached, which the line reports better. */
  const stream = async (): Promise<Duplex | null> =>
    (await openStream?.().catch(() => null)) ?? null
  async function over(opened: Duplex, act: typeof uploadOver, name: string, file: fs.FileHandle) {
    try {
      await act(opened, name, file)
    } catch (error) {
      throw new DriverFailure('unavailable', 'a file did not come over', { cause: error })
    }
  }

  async function downloadPieces(name: string, file: fs.FileHandle): Promise<void> {
    for (let offset = 0; ;) {
      const piece = Buffer.from(await call('read', name, offset), 'base64')
      if (piece.length === 0) break
      await file.appendFile(piece)
      offset += piece.length
    }
  }
  async function download(name: string, to: string, isKept: boolean): Promise<void> {
    const unfinished = `${to}.part`
    await fs.mkdir(path.dirname(to), { recursive: true, mode: 0o700 })
    const file = await fs.open(unfinished, 'w', 0o600)
    try {
      const opened = await stream()
      await (opened ? over(opened, downloadOver, name, file) : downloadPieces(name, file))
      if (isKept) await file.sync()
      await fs.rename(unfinished, to)
    } catch (error) {
      await fs.rm(unfinished, { force: true })
      throw error
    } finally {
      await file.close()
    }
  }
  async function uploadPieces(file: fs.FileHandle, name: string): Promise<void> {
    const piece = Buffer.alloc(pieceBytes)
    for (let offset = 0; ;) {
      const { bytesRead } = await file.read(piece, 0, pieceBytes, offset)
      if (bytesRead === 0 && offset > 0) break
      await call('write', name, offset, piece.subarray(0, bytesRead).toString('base64'))
      if (bytesRead === 0) break
      offset += bytesRead
    }
  }
  async function upload(from: string, name: string): Promise<void> {
    const file = await fs.open(from).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      throw new DriverFailure('rejected', 'the file is gone')
    })
    try {
      const opened = await stream()
      await (opened ? over(opened, uploadOver, name, file) : uploadPieces(file, name))
    } finally {
      await file.close()
    }
  }
  async function within<T>(act: (name: string, there: string) => Promise<T>): Promise<T> {
    const { name, path: there } = await call('begin')
    try {
      return await act(name, there)
    } finally {
      // If this fails, the node removes the file by itself later.
      await call('remove', name).catch(() => undefined)
    }
  }

  return {
    fetch: (to, make, { isKept }) =>
      within(async (name, there) => {
        const made = await make(there)
        await download(name, to, isKept)
        return made
      }),
    send: (from, use) =>
      within(async (name, there) => {
        await upload(from, name)
        return await use(there)
      }),
  }
}

/** Copies all these files to the node, and has `act` read the copies. */
export async function sendAll<T>(
  files: NodeFiles,
  all: readonly string[],
  act: (there: readonly string[]) => Promise<T>,
  sent: readonly string[] = [],
): Promise<T> {
  const [next, ...rest] = all
  return next === undefined
    ? await act(sent)
    : await files.send(next, (there) => sendAll(files, rest, act, [...sent, there]))
}
