/**
 * SFTP to the files of servers: a program signs in as a server's name with one of its keys, and
 * acts on its files through the machine that runs it. No shell, no command, no forwarding.
 */
import net from 'node:net'
import type { AuthContext, Connection } from 'ssh2'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/db.ts'
import { DriverFailure, Refusal } from '../../platform/errors.ts'
import type { Limit } from '../../platform/limits.ts'
import type { Log } from '../../platform/log.ts'
import { networkOf } from '../../platform/network.ts'
import { createDiskRoom } from '../disk-room.ts'
import type { WordpressDriver } from '../driver.ts'
import { hasUpdateUnderWay } from '../update-store.ts'
import { siteFiles } from './files.ts'
import type { HostKey } from './host-key.ts'
import { noteUse, openedBy, stillOpen, type OpenedBy } from './keys.ts'
import { SftpFault, status } from './protocol.ts'
import { serveSession } from './session.ts'

/** Keys that a program may offer on one connection. */
const mostTries = 10
const mostConnections = 200
const mostOfNetwork = 20
const mostOfSite = 8
/** Sessions of SFTP on one connection. */
const mostSessions = 2
/** A connection that has not signed in by then is closed. */
const signInMs = 30_000
/** A connection that is being ended is destroyed after this, whatever its client does. */
const endMs = 5_000
/** Possible names of servers; others are not looked up. */
const nameShape = /^[a-z0-9-]{1,63}$/
/** A connection ends after so long without a request. */
const idleMs = 15 * 60_000
/** A removed key or a suspended server is noticed within this time. */
const trustedMs = 5_000

export interface SftpDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly driver: Pick<WordpressDriver, 'files' | 'state'>
  readonly hostKey: HostKey
  readonly listenOn: { readonly host: string; readonly port: number }
  /** True where the operator has set no port: then a port that is taken means no SFTP. */
  readonly mayBeTaken: boolean
  readonly shown: { readonly host: string; readonly port: number }
  /** Limits keys that opened nothing, by network. */
  readonly failures: Limit
}

export interface SftpServer {
  start(): Promise<void>
  /** How programs reach it; null while it does not listen. */
  address(): { host: string; port: number; fingerprint: string } | null
  /** Accepts no new connections. */
  stop(): void
  /** Ends open connections. */
  close(): Promise<void>
}

type Ssh = typeof import('ssh2')

/** A key begins with the name of its kind (RFC 4253, section 6.6). */
const lineOf = (key: Buffer): string =>
  `${key.toString('latin1', 4, 4 + key.readUInt32BE(0))} ${key.toString('base64')}`

export function createSftp(deps: SftpDeps): SftpServer {
  const { db, clock, log } = deps
  const lines = new Map<net.Socket, { readonly network: string; siteId?: string }>()
  const clients = new Set<Connection>()
  const takeRoomOf = createDiskRoom(deps.driver)
  let ssh: Promise<Ssh> | undefined
  let isListening = false

  const isSigned = (lib: Ssh, ctx: Extract<AuthContext, { method: 'publickey' }>): boolean => {
    const key = lib.utils.parseKey(lineOf(ctx.key.data))
    if (key instanceof Error || !ctx.blob || !ctx.signature) return false
    const hash = (ctx as { hashAlgo?: string }).hashAlgo
    return key.verify(ctx.blob, ctx.signature, hash) === true
  }

  /** The server that the client's key opens; undefined: it is refused. */
  async function judge(lib: Ssh, ctx: AuthContext, network: string): Promise<OpenedBy | undefined> {
    if (ctx.method !== 'publickey') return undefined
    await deps.failures.check(network)
    const opened = nameShape.test(ctx.username)
      ? await openedBy(db, ctx.username, ctx.key.data)
      : undefined
    if (!opened || (ctx.signature && !isSigned(lib, ctx))) {
      await deps.failures.take(network)
      return undefined
    }
    return opened
  }

  /** Reserves room for what is written on a server's disk. Throws SftpFault where there is none. */
  async function takeRoom(of: OpenedBy, bytes: number): Promise<void> {
    if (!(await takeRoomOf(of, bytes)))
      throw new SftpFault(status.failure, 'The disk of this server is full')
  }

  /** Ends a connection, even if the client does not answer the end. */
  function end(client: Connection, socket: net.Socket): void {
    client.end()
    setTimeout(() => socket.destroy(), endMs).unref()
  }

  function serve(client: Connection, opened: OpenedBy, socket: net.Socket): void {
    let known = { opened, at: Date.now() }
    const idle = setTimeout(() => end(client, socket), idleMs)
    socket.once('close', () => clearTimeout(idle))
    async function mayAct(changes: boolean): Promise<void> {
      if (Date.now() - known.at > trustedMs) {
        const now = await stillOpen(db, opened.keyId)
        if (!now) {
          // Ends the connection after its client was told why.
          setImmediate(() => end(client, socket))
          throw new SftpFault(status.permissionDenied, 'This key opens this server no more')
        }
        known = { opened: now, at: Date.now() }
      }
      if (!changes) return
      if (!known.opened.mayChange)
        throw new SftpFault(status.permissionDenied, 'This server is suspended: files can be read')
      // A write during an update would be lost where the update is undone.
      if (await hasUpdateUnderWay(db, opened.siteId))
        throw new SftpFault(
          status.failure,
          'This server is being updated: try again in some minutes',
        )
    }
    let sessions = 0
    client.on('session', (accept, reject) => {
      if (++sessions > mostSessions) return reject()
      accept().on('sftp', (acceptSftp) =>
        serveSession(acceptSftp(), {
          files: siteFiles(deps.driver, opened.siteId, mayAct),
          askRoom: (bytes) => takeRoom(known.opened, bytes),
          hold: (isHeld) => void (isHeld ? socket.pause() : socket.resume()),
          unsent: () => (socket.destroyed ? null : socket.writableLength),
          onRequest: () => void idle.refresh(),
          onError(error) {
            const about = { err: error, site: opened.siteId }
            // That a machine is away is reported elsewhere.
            if (error instanceof DriverFailure) log.debug(about, 'files did not answer SFTP')
            else log.error(about, 'SFTP failed')
          },
        }),
      )
    })
  }

  function meet(lib: Ssh, client: Connection, socket: net.Socket): void {
    const address = socket.remoteAddress ?? ''
    const mine = lines.get(socket)
    if (!mine) return void socket.destroy()
    clients.add(client)
    let tries = 0
    let opened: OpenedBy | undefined
    // A client's protocol errors are its own; without a listener they would end the process.
    client.on('error', (error) => log.debug({ err: error, address }, 'an SFTP connection broke'))
    client.on('close', () => clients.delete(client))
    client.on('authentication', (ctx) => {
      if (++tries > mostTries) return end(client, socket)
      judge(lib, ctx, mine.network).then(
        (found) => {
          if (!found) return ctx.reject(['publickey'])
          if (ctx.method === 'publickey' && ctx.signature) opened = found
          ctx.accept()
        },
        (error: unknown) => {
          if (!(error instanceof Refusal)) log.error({ err: error }, 'an SFTP sign-in failed')
          end(client, socket)
        },
      )
    })
    client.on('ready', () => {
      if (!opened) return end(client, socket)
      mine.siteId = opened.siteId
      const ofSite = [...lines.values()].filter(({ siteId }) => siteId === mine.siteId).length
      if (ofSite > mostOfSite) return end(client, socket)
      log.info({ site: opened.siteId, key: opened.keyId, address }, 'signed in by SFTP')
      noteUse(db, opened.keyId, clock.now(), address).catch((error: unknown) =>
        log.error({ err: error }, 'the use of a key was not noted'),
      )
      serve(client, opened, socket)
    })
  }

  /**
   * Whether a connection is accepted. One that has not signed in counts, too, and is closed after
   * half a minute.
   */
  function admit(socket: net.Socket): boolean {
    const network = networkOf(socket.remoteAddress ?? '')
    const ofNetwork = [...lines.values()].filter((one) => one.network === network).length
    if (lines.size >= mostConnections || ofNetwork >= mostOfNetwork) return false
    const mine: { readonly network: string; siteId?: string } = { network }
    lines.set(socket, mine)
    const late = setTimeout(() => mine.siteId === undefined && socket.destroy(), signInMs)
    socket.once('close', () => {
      clearTimeout(late)
      lines.delete(socket)
    })
    return true
  }

  async function take(socket: net.Socket): Promise<void> {
    socket.on('error', () => socket.destroy())
    // Clients wait for each small answer, so it is sent at once.
    socket.setNoDelay(true)
    if (!admit(socket)) return void socket.destroy()
    // Loaded for the first connection: most portals never have one.
    ssh ??= import('ssh2').then((module) => module.default)
    const lib = await ssh
    const server = new lib.Server(
      {
        hostKeys: [deps.hostKey.privateKey],
        ident: 'SFTP',
        keepaliveInterval: 60_000,
        // A compressed packet could unpack to a thousand times its length, even before a sign-in.
        algorithms: { compress: ['none'] },
      },
      (client) => meet(lib, client, socket),
    )
    server.injectSocket(socket)
  }

  const server = net.createServer((socket) => {
    take(socket).catch((error: unknown) => {
      log.error({ err: error }, 'an SFTP connection was not taken')
      socket.destroy()
    })
  })

  return {
    async start() {
      try {
        await new Promise<void>((resolve, reject) => {
          server.once('error', reject)
          server.listen(deps.listenOn, resolve)
        })
        isListening = true
      } catch (error) {
        if (!deps.mayBeTaken || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
        log.warn({ port: deps.listenOn.port }, 'the port of SFTP is taken: there is no SFTP')
      }
    },
    address: () => (isListening ? { ...deps.shown, fingerprint: deps.hostKey.fingerprint } : null),
    stop: () => void server.close(),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const client of clients) client.end()
      for (const socket of lines.keys()) setTimeout(() => socket.destroy(), endMs).unref()
      await closed
    },
  }
}
