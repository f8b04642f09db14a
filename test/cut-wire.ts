/** A wire between a client and PostgreSQL that breaks at a chosen statement: before the server hears it, or after, when only the answer is lost. */
import net from 'node:net'
import pg from 'pg'

export interface CutWire {
  /** The database's address, through the wire. */
  readonly url: string
  /** Breaks every connection at the n-th statement from now. */
  cutAt(statement: number, moment: 'before' | 'after'): void
  /** Statements heard since `cutAt`. */
  heard(): number
  close(): Promise<void>
}

/** A statement ends with Sync ('S', no content) or is a simple query ('Q'): PostgreSQL 18's protocol, 54.7 "Message Formats". */
function statementsIn(chunk: Buffer): number {
  let count = 0
  for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readUInt32BE(at + 1)) {
    const kind = chunk[at]
    if (kind === 0x53 || kind === 0x51) count += 1
  }
  return count
}

export async function openCutWire(databaseUrl: string): Promise<CutWire> {
  const { host, port } = new pg.Client({ connectionString: databaseUrl })
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  const open = new Set<net.Socket>()
  let heard = 0
  let cut: { statement: number; moment: 'before' | 'after' } | undefined
  const breakAll = (): void => {
    for (const socket of open) socket.destroy()
  }
  const server = net.createServer((near) => {
    const far = net.connect(target)
    let started = false
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.on('error', () => one.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
    near.on('data', (chunk) => {
      // The first message of a connection has no kind.
      if (started) heard += statementsIn(chunk)
      started = true
      const now = cut !== undefined && heard >= cut.statement
      if (!now) return void far.write(chunk)
      const { moment } = cut ?? { moment: 'before' }
      cut = undefined
      if (moment === 'before') return breakAll()
      far.write(chunk, () => far.once('data', breakAll))
    })
    far.on('data', (chunk) => {
      if (!near.destroyed) near.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const through = new URL(databaseUrl.replace(/^postgres(ql)?:/, 'http:'))
  const name = through.pathname
  const { user, password } = new pg.Client({ connectionString: databaseUrl })
  const credentials = `${encodeURIComponent(user ?? 'postgres')}:${encodeURIComponent(typeof password === 'string' ? password : '')}`
  return {
    url: `postgres://${credentials}@127.0.0.1:${(server.address() as net.AddressInfo).port}${name}`,
    cutAt(statement, moment) {
      heard = 0
      cut = { statement, moment }
    },
    heard: () => heard,
    async close() {
      cut = undefined
      breakAll()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
