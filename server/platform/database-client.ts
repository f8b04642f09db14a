/**
 * Every connection to the database is opened here: by the same address with its TLS, watched in the
 * same way. Of several hosts it leads to the one that takes writes; and a connection that is of no
 * more use closes itself, so that no pool hands it out again.
 */
import pg from 'pg'
import { readDatabaseAddress, type DatabaseHost } from './database-address.ts'

/**
 * TCP asks after this long whether the peer of an idle connection is there, and gives up ten
 * unanswered questions, a second each, later (libuv). By itself an operating system asks after two
 * hours.
 */
const keepAliveInitialDelayMillis = 5_000
/** Until a connection is open, ms. */
const connectionTimeoutMillis = 10_000
/** For the question whether one of several hosts takes writes, ms. */
const probeMs = 3_000

/** None of the hosts of the address takes writes: a primary is gone, its replica not promoted. */
export class NoWritableHost extends Error {
  constructor(reasons: readonly string[]) {
    super(`no host of DATABASE_URL takes writes (${reasons.join('; ')})`)
  }
}

/**
 * Which host of an address takes writes, as far as this process knows. A former primary that comes
 * back takes writes too, although the others have gone on without it: of several that do, the one
 * with the newest timeline is right, since each promotion begins one.
 */
class Hosts {
  readonly #hosts: readonly DatabaseHost[]
  #writable: DatabaseHost | undefined
  #newest = 0
  #choosing: Promise<DatabaseHost> | undefined

  constructor(hosts: readonly DatabaseHost[]) {
    this.#hosts = hosts
  }
  get areSeveral(): boolean {
    return this.#hosts.length > 1
  }
  /** It does not answer, or takes no writes any more: the next connection asks all of them. */
  forget(): void {
    this.#writable = undefined
  }
  async choose(config: pg.ClientConfig): Promise<DatabaseHost> {
    if (this.#writable) return this.#writable
    this.#choosing ??= this.#ask(config).finally(() => {
      this.#choosing = undefined
    })
    this.#writable = await this.#choosing
    return this.#writable
  }
  async #ask(config: pg.ClientConfig): Promise<DatabaseHost> {
    const timelines = await Promise.allSettled(this.#hosts.map((host) => timelineOf(host, config)))
    let found: DatabaseHost | undefined
    for (const [index, asked] of timelines.entries()) {
      if (asked.status === 'rejected' || asked.value < this.#newest) continue
      if (found && asked.value === this.#newest) continue
      this.#newest = asked.value
      found = this.#hosts[index]
    }
    if (found) return found
    throw new NoWritableHost(
      timelines.map((asked, index) => {
        const { host, port } = this.#hosts[index] ?? { host: '', port: 0 }
        const why =
          asked.status === 'rejected' ? (asked.reason as Error).message : 'is a former primary'
        return `${host}:${port} ${why}`
      }),
    )
  }
}

/** The timeline of a host that takes writes. */
async function timelineOf(host: DatabaseHost, config: pg.ClientConfig): Promise<number> {
  const probe = new pg.Client({
    ...config,
    connectionTimeoutMillis: probeMs,
    query_timeout: probeMs,
  })
  // What ends it while it connects rejects `connect` too.
  probe.on('error', () => undefined)
  try {
    const takesWrites = watchForStandby(probe)
    Object.assign(probe, host)
    await probe.connect()
    if (!takesWrites()) throw new Error('is a standby')
    const { rows } = await probe.query<{ segment: string }>(
      'select pg_walfile_name(pg_current_wal_lsn()) as segment',
    )
    return Number.parseInt(rows[0]?.segment.slice(0, 8) ?? '', 16)
  } finally {
    void probe.end().catch(() => undefined)
  }
}
const known = new Map<string, Hosts>()

interface WithConnection {
  readonly connection: {
    on(
      event: 'parameterStatus',
      listener: (message: { parameterName: string; parameterValue: string }) => void,
    ): void
  }
}
const connectionOf = (client: pg.Client): WithConnection['connection'] =>
  (client as unknown as WithConnection).connection

/**
 * A server says when a session begins, and again when that changes, whether it is a standby
 * (PostgreSQL's manual, 54.2.7 "Asynchronous Operations"). Before the session begins.
 */
function watchForStandby(client: pg.Client): () => boolean {
  const said = new Map<string, string>()
  connectionOf(client).on('parameterStatus', ({ parameterName, parameterValue }) =>
    said.set(parameterName, parameterValue),
  )
  return () =>
    said.get('in_hot_standby') !== 'on' && said.get('default_transaction_read_only') !== 'on'
}

type WithHosts = pg.ClientConfig & { readonly hosts?: Hosts }

/**
 * After these errors no query on the connection ends well. `pg` keeps the connection of a query
 * that timed out: the next query would wait behind it. And a primary that became a standby, or a
 * standby that got the primary's address, takes no writes (read_only_sql_transaction).
 */
const isOfNoUse = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message === 'Query read timeout' || (error as { code?: string }).code === '25006')

/** What `pg.Pool` makes of our configuration too. */
class DatabaseClient extends pg.Client {
  readonly #hosts: Hosts
  readonly #config: pg.ClientConfig

  constructor(config: WithHosts = {}) {
    super(config)
    const { hosts, ...others } = config
    this.#hosts = hosts ?? new Hosts([])
    this.#config = others
    // Its owner listens once it is connected. The server may end the session in the moment before,
    // and an error event that nobody listens to would end the process.
    this.on('error', () => undefined)
  }

  override connect(): Promise<pg.Client>
  override connect(
    callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void),
  ): void
  override connect(callback?: (error: never, client: pg.Client) => void): unknown {
    const opened = this.#hosts.areSeveral ? this.#connectToWritable() : super.connect()
    if (!callback) return opened
    const answer = callback as (error: Error | null, client?: pg.Client) => void
    opened.then((client) => answer(null, client), answer)
    return undefined
  }
  async #connectToWritable(): Promise<pg.Client> {
    const takesWrites = watchForStandby(this)
    Object.assign(this, await this.#hosts.choose(this.#config))
    try {
      await super.connect()
    } catch (error) {
      this.#hosts.forget()
      throw error
    }
    if (takesWrites()) return this
    this.#hosts.forget()
    void this.end().catch(() => undefined)
    throw new NoWritableHost([`${this.host}:${this.port} became a standby`])
  }

  // One signature for all that there are; `pg` looks at what it is given.
  override query(...given: unknown[]): never {
    const result: unknown = Reflect.apply(super.query, this, given)
    if (result instanceof Promise)
      result.catch((error: unknown) => {
        if (!isOfNoUse(error)) return
        this.#hosts.forget()
        // Known to the pool at once, before whoever waits for this query gives the connection back.
        void this.end().catch(() => undefined)
      })
    return result as never
  }
}

export interface ConnectionSettings {
  /** How PostgreSQL lists it (pg_stat_activity). */
  readonly application_name: string
  /** Longest time of a statement, ms; the server ends it. */
  readonly statement_timeout?: number
  /** Longest time until a response, ms; the connection ends with it. */
  readonly query_timeout?: number
  readonly idle_in_transaction_session_timeout?: number
  /** How types of PostgreSQL become values, where it differs from everybody else's. */
  readonly types?: pg.CustomTypesConfig
}

interface ConnectionConfig extends ConnectionSettings {
  readonly connectionString: string
  readonly connectionTimeoutMillis: number
  readonly keepAlive: boolean
  readonly keepAliveInitialDelayMillis: number
  readonly hosts: Hosts
  readonly Client: typeof pg.Client
}

/** The configuration of connections to this address, for `pg` and for libraries that use it. */
export function connectionConfig(url: string, settings: ConnectionSettings): ConnectionConfig {
  const { hosts, connectionString } = readDatabaseAddress(url)
  let ours = known.get(url)
  if (!ours) known.set(url, (ours = new Hosts(hosts)))
  return {
    ...settings,
    connectionString,
    connectionTimeoutMillis,
    keepAlive: true,
    keepAliveInitialDelayMillis,
    hosts: ours,
    Client: DatabaseClient,
  }
}

/** At most `max` connections. `onError` hears of those that end while nobody uses them. */
export function openPool(
  url: string,
  max: number,
  settings: ConnectionSettings,
  onError: (error: Error) => void,
): pg.Pool {
  const pool = new pg.Pool({ ...connectionConfig(url, settings), max })
  pool.on('error', onError)
  // A connection that breaks while in use rejects its query, and then emits an error event: an
  // unhandled error event would end the process.
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
  })
  return pool
}

/** One connection, not opened yet. Whoever has it listens for its error events. */
export function newClient(url: string, settings: ConnectionSettings): pg.Client {
  return new DatabaseClient(connectionConfig(url, settings))
}
