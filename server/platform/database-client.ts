/**
 * Opens every connection to the database, with the same address, TLS and error handling. With
 * several hosts it connects to the one that takes writes. A connection that has become unusable
 * closes itself, so that no pool hands it out again.
 */
import pg from 'pg'
import { readDatabaseAddress, type DatabaseHost } from './database-address.ts'

/**
 * Idle time before TCP keep-alive probes the peer. It gives up after ten unanswered probes, one a
 * second (libuv). An operating system's own default is two hours.
 */
const keepAliveInitialDelayMillis = 5_000
/** Time limit for opening a connection, ms. */
const connectionTimeoutMillis = 10_000
/** Time limit for asking one of several hosts whether it takes writes, ms. */
const probeMs = 3_000

/**
 * No host of the address takes writes: for example, the primary is gone and its replica is not
 * promoted yet.
 */
export class NoWritableHost extends Error {
  constructor(reasons: readonly string[]) {
    super(`no host of DATABASE_URL takes writes (${reasons.join('; ')})`)
  }
}

/**
 * The hosts of an address, and the one that takes writes as far as this process knows. A former
 * primary that comes back also takes writes, although the others went on without it. Of several
 * such hosts, the one with the newest timeline is right, because each promotion begins a timeline.
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
  /** The host does not answer or no longer takes writes: the next connection queries all hosts. */
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
  // An error during the connection also rejects `connect`.
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
 * Must be called before the session begins. A server reports at the session's start, and at each
 * change, whether it is a standby (PostgreSQL's manual, 54.2.7 "Asynchronous Operations").
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
 * Errors after which the connection is unusable. `pg` keeps the connection of a query that timed
 * out, and the next query would wait behind it. A primary that became a standby, or a standby that
 * got the primary's address, takes no writes (25006, read_only_sql_transaction).
 */
const isOfNoUse = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message === 'Query read timeout' || (error as { code?: string }).code === '25006')

/** The class of all our connections, in pools and alone. */
class DatabaseClient extends pg.Client {
  readonly #hosts: Hosts
  readonly #config: pg.ClientConfig

  constructor(config: WithHosts = {}) {
    super(config)
    const { hosts, ...others } = config
    this.#hosts = hosts ?? new Hosts([])
    this.#config = others
    // The owner adds its listener once the client is connected. The server may end the session
    // before, and an error event without a listener would end the process.
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

  // One signature in place of all overloads of `pg`; `pg` itself looks at the arguments.
  override query(...given: unknown[]): never {
    const result: unknown = Reflect.apply(super.query, this, given)
    if (result instanceof Promise)
      result.catch((error: unknown) => {
        if (!isOfNoUse(error)) return
        this.#hosts.forget()
        // Tells the pool at once, before the caller that waits for this query returns the
        // connection.
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

/** Opens a pool of at most `max` connections. `onError` gets the errors of idle connections. */
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

/** One connection, not opened yet. Its owner must listen for its error events. */
export function newClient(url: string, settings: ConnectionSettings): pg.Client {
  return new DatabaseClient(connectionConfig(url, settings))
}
