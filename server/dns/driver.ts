/**
 * The interface between the DNS module and the name servers. PostgreSQL is authoritative; a driver
 * serves what it is given and decides nothing. Every method is idempotent. Failures are
 * DriverFailure.
 */

/** Includes SOA and the apex's NS, which the module generates. */
export type ServedType = 'A' | 'AAAA' | 'CNAME' | 'TXT' | 'MX' | 'NS'

/** All values of one name and type (RFC 2181, 5): the unit of changes. */
export interface RecordSet {
  /** Absolute, A-labels, lower case, without a dot at the end. The first label may be `*`. */
  readonly name: string
  readonly type: ServedType
  readonly ttlSeconds: number
  /** Used only by a driver with that capability. */
  readonly proxied: boolean
  /**
   * A and AAAA: the address in canonical form. CNAME and NS: a name. MX: priority, a space and a
   * name (`10 mail.example.vn`, `0 .`). TXT: the text itself, up to 2048 bytes of UTF-8, neither
   * quoted nor split. Empty: the set is deleted.
   */
  readonly values: readonly string[]
}

/** A zone without its records. */
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

/** Seconds, by the fields of the SOA record (RFC 1035, 3.3.13). */
export interface SoaTimes {
  readonly contact: string
  readonly refresh: number
  readonly retry: number
  readonly expire: number
  /** How long a negative answer may be cached (RFC 2308). */
  readonly minimum: number
}

export interface DnsCapabilities {
  /** A record may be served with a proxy's addresses instead of its own. */
  readonly proxied: boolean
  /** A CNAME at the apex is served as the addresses of its target. */
  readonly apexFlattening: boolean
}

/** Responses of our own name server since its start. */
export interface NameServerCounts {
  /** By the name of the response code (RFC 6895), such as NOERROR. */
  readonly responses: Readonly<Record<string, number>>
  /** Queries over UDP that the rate limit dropped. */
  readonly dropped: number
  /** Truncated responses. */
  readonly truncated: number
}

export interface DnsDriver {
  readonly name: string
  readonly capabilities: DnsCapabilities
  /** The zones outlive this process. If false, every zone is put again at the start. */
  readonly durable: boolean
  /** Replaces the zone's whole content. */
  putZone(head: ZoneHead, sets: readonly RecordSet[]): Promise<void>
  /**
   * Applies the sets that changed since `fromSerial`, all or none; a set without values is deleted.
   * `behind`: the driver does not hold this zone at that serial and did nothing; call `putZone`.
   */
  changeZone(
    head: ZoneHead,
    fromSerial: number,
    sets: readonly RecordSet[],
  ): Promise<'applied' | 'behind'>
  /** Stops serving the zone. */
  removeZone(name: string): Promise<void>
  /** The claim and serial served under this name. Undefined: none. */
  held(name: string): Promise<{ readonly id: string; readonly serial: number } | undefined>
  /** The names of all zones that it serves for this portal. */
  list(): Promise<readonly string[]>
  /**
   * Differs with every start of a name server that can restart while the portal runs; then all
   * zones are compared. Undefined: a release that does not report it.
   */
  startId?(): Promise<string | undefined>
  /** Opens its ports, if it has any. */
  start(): Promise<void>
  /** Undefined when ready; otherwise the reason (for /readyz). */
  health(): Promise<string | undefined>
  close(): Promise<void>
}
