/**
 * The interface between the DNS module and whatever answers queries. PostgreSQL is authoritative; a
 * driver is told what it should serve, and never decides. Every act is idempotent: it may be called
 * twice and acts once. Failures are DriverFailure.
 */

/** Also SOA and the apex's NS, which the module makes and no customer writes. */
export type ServedType = 'A' | 'AAAA' | 'CNAME' | 'TXT' | 'MX' | 'NS'

/** All values of one name and type (RFC 2181, 5): the unit of every change. */
export interface RecordSet {
  /** Absolute, A-labels, lower case, without a dot at the end. The first label may be `*`. */
  readonly name: string
  readonly type: ServedType
  readonly ttlSeconds: number
  /** Only where the driver has the capability. */
  readonly proxied: boolean
  /**
   * A and AAAA: the address in canonical form. CNAME and NS: a name. MX: priority, a space and a
   * name (`10 mail.example.vn`, `0 .`). TXT: the text itself, up to 2048 bytes of UTF-8, neither
   * quoted nor split. Empty: the set is not there any more.
   */
  readonly values: readonly string[]
}

/** What a zone is, apart from its records. */
export interface ZoneHead {
  /** Our id (UUID). Two customers may claim one name; the driver serves one claim. */
  readonly id: string
  /** Absolute, A-labels, lower case, without a dot at the end. */
  readonly name: string
  /** Grows with every change. */
  readonly serial: number
  /**
   * The pair that the parent zone should name: the apex's NS set, and the first is the SOA's MNAME.
   */
  readonly nameServers: readonly string[]
  /** TTL of the apex's SOA and NS, seconds. */
  readonly apexTtlSeconds: number
  readonly soa: SoaTimes
}

/** Seconds, as the SOA record has them (RFC 1035, 3.3.13). */
export interface SoaTimes {
  readonly contact: string
  readonly refresh: number
  readonly retry: number
  readonly expire: number
  /** How long "there is none" may be kept (RFC 2308). */
  readonly minimum: number
}

export interface DnsCapabilities {
  /** A record may be answered with the addresses of a proxy in front of its own. */
  readonly proxied: boolean
  /** A CNAME at the apex is answered with the addresses of its target. */
  readonly apexFlattening: boolean
}

/** What our own name server has answered since its start. */
export interface NameServerCounts {
  /** By the name of the response's code (RFC 6895), such as NOERROR. */
  readonly responses: Readonly<Record<string, number>>
  /** Queries over UDP that the limit left without an answer. */
  readonly dropped: number
  /** Those that it answered with a truncated response. */
  readonly truncated: number
}

export interface DnsDriver {
  readonly name: string
  readonly capabilities: DnsCapabilities
  /** Its zones outlive this process. Without it every zone is put again at the start. */
  readonly durable: boolean
  /** The zone is exactly this afterwards, whatever it was before. */
  putZone(head: ZoneHead, sets: readonly RecordSet[]): Promise<void>
  /**
   * Applies the sets that changed since `fromSerial`, all or none; a set without values goes.
   * `behind`: the driver does not hold this zone at that serial, and nothing was done; `putZone` is
   * wanted.
   */
  changeZone(
    head: ZoneHead,
    fromSerial: number,
    sets: readonly RecordSet[],
  ): Promise<'applied' | 'behind'>
  /** Nothing of the zone is served any more. */
  removeZone(name: string): Promise<void>
  /** What is served under this name now; undefined: nothing. */
  held(name: string): Promise<{ readonly id: string; readonly serial: number } | undefined>
  /** Names of all zones that it serves for this portal. */
  list(): Promise<readonly string[]>
  /**
   * Differs with every start of a name server that may be started again while the portal runs, so
   * that all zones are compared then. Undefined: it does not say (an earlier release).
   */
  startId?(): Promise<string | undefined>
  /** Opens its ports, if it has any. */
  start(): Promise<void>
  /** Undefined when ready; otherwise why not (for /readyz). */
  health(): Promise<string | undefined>
  close(): Promise<void>
}
