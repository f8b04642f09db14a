/** A zone file's record in the portal's notation. */

/** Times in seconds. Names are absolute, lower case, without a dot at the end; the root is ''. */
export interface StartOfAuthority {
  readonly primary: string
  /** The mailbox in the notation of a name: the first label is the part before the @. */
  readonly mailbox: string
  readonly serial: number
  readonly refreshSeconds: number
  readonly retrySeconds: number
  readonly expireSeconds: number
  /** How long a negative answer may be cached. */
  readonly minimumSeconds: number
}

/**
 * `data` in its one spelling: an address (IPv6 after RFC 5952), an absolute name as in {@link
 * StartOfAuthority}, or the text of a TXT record, its strings joined.
 */
export type RecordData =
  | { readonly type: 'A' | 'AAAA' | 'CNAME' | 'NS' | 'TXT'; readonly data: string }
  | { readonly type: 'MX'; readonly data: string; readonly priority: number }
  | { readonly type: 'SOA'; readonly data: string; readonly soa: StartOfAuthority }

export type ZoneRecord = RecordData & {
  /** Absolute, lower case, A-labels, without a dot at the end. */
  readonly name: string
  readonly ttlSeconds: number
}

export type ZoneFileRecord = ZoneRecord & {
  /** The line in the file where it begins, from 1. */
  readonly line: number
  /** The TTL written for this record; `ttlSeconds` is the set's. */
  readonly writtenTtlSeconds: number
}

/** In the order of a written file. */
export const recordTypes = ['SOA', 'NS', 'A', 'AAAA', 'CNAME', 'MX', 'TXT'] as const
