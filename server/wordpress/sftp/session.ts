/** One session of SFTP, version 3 (draft-ietf-secsh-filexfer-02), over the files of one server. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Attributes, FileEntry as NamedFile, SFTPWrapper } from 'ssh2'
import type { FileEntry } from '../driver.ts'
import { relativePath, type SiteFiles } from './files.ts'
import { ReadFile, WrittenFile } from './open-files.ts'
import { modes, openFlags, SftpFault, status } from './protocol.ts'

/** Files and folders that a client has open at once. */
const mostHandles = 64
/** Entries of one answer to READDIR. */
const namesAtOnce = 100
/**
 * With this many bytes of waiting requests the client is not read any further; below the second
 * figure it is read again.
 */
const heldBytes = 4 * 1_048_576
const freedBytes = 1_048_576
/** A request counts as at least this many bytes. */
const leastBytes = 1_024
/** The longest piece of one answer to READ; clients ask again for the rest. */
const mostRead = 262_144
/** With more answers than this not taken by the client, nothing more is answered. */
const untakenPieces = 16
const untakenLookMs = 50

export interface SftpSession {
  readonly files: SiteFiles
  /** Reserves so many more bytes; throws SftpFault where the server's disk has no room for them. */
  readonly askRoom: (bytes: number) => Promise<void>
  /** Stops or resumes reading what the client sends. */
  readonly hold: (isHeld: boolean) => void
  /**
   * Bytes that the connection holds because the client does not take them; null: the connection is
   * gone.
   */
  readonly unsent: () => number | null
  /** Called for each request. */
  readonly onRequest: () => void
  readonly onError: (error: unknown) => void
}

type Open =
  | ReadFile
  | WrittenFile
  | { readonly path: string; entries?: readonly FileEntry[]; told: number }

const attributesOf = ({ kind, bytes, at }: FileEntry): Attributes => {
  const seconds = Math.round(at / 1_000)
  return { mode: modes[kind], uid: 0, gid: 0, size: bytes, atime: seconds, mtime: seconds }
}

/** The attributes that a client may set. */
const changesOf = ({ mode, mtime }: Attributes): { mode?: number; at?: number } => ({
  ...(mode !== undefined && { mode: mode & 0o777 }),
  ...(mtime !== undefined && { at: Number(mtime) * 1_000 }),
})

const letters = {
  file: '-rw-r--r--',
  folder: 'drwxr-xr-x',
  link: 'lrwxrwxrwx',
  other: '?---------',
}
/** A line in the form of `ls -l`, which clients show to people. */
function named(entry: FileEntry): NamedFile {
  const when = new Date(entry.at).toISOString().slice(0, 16).replace('T', ' ')
  const size = String(entry.bytes).padStart(10)
  return {
    filename: entry.name,
    longname: `${letters[entry.kind]} 1 site site ${size} ${when} ${entry.name}`,
    attrs: attributesOf(entry),
  }
}

/** Serves the client's requests, one after the other. */
export function serveSession(sftp: SFTPWrapper, session: SftpSession): void {
  const { files } = session
  const open = new Map<number, Open>()
  let lastHandle = 0
  const ahead = { bytes: 0 }
  let last = Promise.resolve()
  let waiting = 0
  let isHeld = false

  /** Answers in the order of the requests; a failure becomes a status. */
  function inTurn(id: number, work: () => Promise<void>, bytes = leastBytes): void {
    session.onRequest()
    waiting += bytes
    if (!isHeld && waiting > heldBytes) session.hold((isHeld = true))
    const answer = async (): Promise<void> => {
      try {
        if (!(await isTaken())) return
        await work()
      } catch (error) {
        if (error instanceof SftpFault) return sftp.status(id, error.status, error.message)
        session.onError(error)
        sftp.status(id, status.failure, 'This is not possible at the moment: try again later')
      } finally {
        waiting -= bytes
        if (isHeld && waiting < freedBytes) session.hold((isHeld = false))
      }
    }
    // Answering on a connection that is gone may throw; then there is no client to tell.
    last = last.then(answer).catch(session.onError)
  }
  /**
   * Waits until the client has taken earlier answers: ssh2 keeps any number of answers in memory.
   * False: the connection is gone.
   */
  async function isTaken(): Promise<boolean> {
    for (;;) {
      const unsent = session.unsent()
      if (unsent === null) return false
      const { _buffer: untaken = [] } = sftp as unknown as { readonly _buffer?: readonly unknown[] }
      if (unsent < heldBytes && untaken.length <= untakenPieces) return true
      await pause(untakenLookMs)
    }
  }
  const done = (id: number): void => sftp.status(id, status.ok)

  function keep(id: number, what: Open): void {
    if (open.size >= mostHandles) throw new SftpFault(status.failure, 'Too many files are open')
    const handle = Buffer.alloc(4)
    handle.writeUInt32BE(++lastHandle)
    open.set(lastHandle, what)
    sftp.handle(id, handle)
  }
  function opened(handle: Buffer): Open {
    const found = handle.length === 4 ? open.get(handle.readUInt32BE(0)) : undefined
    if (!found) throw new SftpFault(status.failure, 'This file is not open')
    return found
  }

  async function openFile(id: number, asked: string, flags: number): Promise<void> {
    const where = relativePath(asked)
    if ((flags & openFlags.write) === 0) {
      const { kind } = await files.entry(where)
      if (kind !== 'file') throw new SftpFault(status.failure, 'This is not a file')
      return keep(id, new ReadFile(files, where))
    }
    if ((flags & openFlags.append) !== 0)
      throw new SftpFault(status.unsupported, 'A file is sent as a whole: nothing is appended')
    const standing = await files.entry(where).catch((error: unknown) => {
      if (error instanceof SftpFault && error.status === status.noSuchFile) return undefined
      throw error
    })
    if (!standing && (flags & openFlags.create) === 0)
      throw new SftpFault(status.noSuchFile, 'No such file')
    if (standing && standing.kind !== 'file')
      throw new SftpFault(status.failure, 'There is something of that name already')
    if (standing && (flags & openFlags.exclusive) !== 0)
      throw new SftpFault(status.failure, 'There is a file of that name already')
    if (standing && standing.bytes > 0 && (flags & openFlags.truncate) === 0)
      throw new SftpFault(status.unsupported, 'A file is sent as a whole: send it anew')
    const replaces = (flags & openFlags.exclusive) === 0
    keep(id, new WrittenFile(files, { path: where, replaces, ahead, askRoom: session.askRoom }))
  }

  async function setAttributes(where: string, attributes: Attributes): Promise<void> {
    const changes = changesOf(attributes)
    if (Object.keys(changes).length === 0) return
    await files.act({ op: 'attributes', path: where, ...changes })
  }

  // A client that has no more requests waits for our end, too.
  sftp.on('end', () => void last.then(() => sftp.end()))
  sftp.on('OPEN', (id, name, flags) => inTurn(id, () => openFile(id, name, flags)))
  sftp.on('READ', (id, handle, offset, length) => {
    const most = Math.min(length, mostRead)
    inTurn(
      id,
      async () => {
        const file = opened(handle)
        if (!(file instanceof ReadFile)) throw new SftpFault(status.failure, 'It is not read')
        const data = await file.read(offset, most)
        if (data.length === 0) sftp.status(id, status.eof)
        else sftp.data(id, data)
      },
      most + leastBytes,
    )
  })
  sftp.on('WRITE', (id, handle, offset, data) => {
    // The bytes are a view of a buffer that the protocol reuses.
    const copy = Buffer.from(data)
    inTurn(
      id,
      async () => {
        const file = opened(handle)
        if (!(file instanceof WrittenFile)) throw new SftpFault(status.failure, 'It is not written')
        await file.write(offset, copy)
        done(id)
      },
      copy.length + leastBytes,
    )
  })
  sftp.on('CLOSE', (id, handle) =>
    inTurn(id, async () => {
      const file = opened(handle)
      open.delete(handle.readUInt32BE(0))
      if (file instanceof WrittenFile) await file.close().finally(() => file.drop())
      done(id)
    }),
  )
  const tellEntry = (id: number, name: string): void =>
    inTurn(id, async () => {
      sftp.attrs(id, attributesOf(await files.entry(relativePath(name))))
    })
  sftp.on('STAT', tellEntry)
  sftp.on('LSTAT', tellEntry)
  sftp.on('FSTAT', (id, handle) =>
    inTurn(id, async () => {
      const file = opened(handle)
      const entry =
        file instanceof WrittenFile
          ? { name: '', kind: 'file' as const, bytes: file.bytes, at: Date.now() }
          : await files.entry(file.path)
      sftp.attrs(id, attributesOf(entry))
    }),
  )
  sftp.on('SETSTAT', (id, name, attributes) =>
    inTurn(id, async () => {
      await setAttributes(relativePath(name), attributes)
      done(id)
    }),
  )
  sftp.on('FSETSTAT', (id, handle, attributes) =>
    inTurn(id, async () => {
      const file = opened(handle)
      if (file instanceof WrittenFile)
        file.attributes = { ...file.attributes, ...changesOf(attributes) }
      else await setAttributes(file.path, attributes)
      done(id)
    }),
  )
  sftp.on('OPENDIR', (id, name) =>
    inTurn(id, async () => {
      const where = relativePath(name)
      const { kind } = await files.entry(where)
      if (kind !== 'folder') throw new SftpFault(status.failure, 'This is not a folder')
      keep(id, { path: where, told: 0 })
    }),
  )
  sftp.on('READDIR', (id, handle) =>
    inTurn(id, async () => {
      const folder = opened(handle)
      if (!('told' in folder)) throw new SftpFault(status.failure, 'This is not a folder')
      folder.entries ??= await files.entries(folder.path)
      const names = folder.entries.slice(folder.told, folder.told + namesAtOnce)
      folder.told += names.length
      if (names.length === 0) sftp.status(id, status.eof)
      else sftp.name(id, names.map(named))
    }),
  )
  sftp.on('REALPATH', (id, name) =>
    inTurn(id, async () => {
      const where = `/${relativePath(name)}`
      sftp.name(id, [{ filename: where, longname: where, attrs: {} as Attributes }])
    }),
  )
  sftp.on('MKDIR', (id, name) =>
    inTurn(id, async () => {
      await files.act({ op: 'folder', path: relativePath(name) })
      done(id)
    }),
  )
  sftp.on('RMDIR', (id, name) =>
    inTurn(id, async () => {
      await files.act({ op: 'rmdir', path: relativePath(name) })
      done(id)
    }),
  )
  sftp.on('REMOVE', (id, name) =>
    inTurn(id, async () => {
      await files.act({ op: 'unlink', path: relativePath(name) })
      done(id)
    }),
  )
  sftp.on('RENAME', (id, from, to) =>
    inTurn(id, async () => {
      await files.act({ op: 'move', path: relativePath(from), to: relativePath(to) })
      done(id)
    }),
  )
  const refuseLink = (id: number): void =>
    inTurn(id, () => Promise.reject(new SftpFault(status.unsupported, 'No links are made or read')))
  sftp.on('READLINK', refuseLink)
  sftp.on('SYMLINK', refuseLink)
}
