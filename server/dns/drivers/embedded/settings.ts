/** What the embedded name server takes. */
export interface Settings {
  /** Address to listen on, UDP and TCP. */
  readonly host: string
  readonly port: number
  /** Addresses that may fetch whole zones (AXFR, over TCP). */
  readonly transferTo: readonly string[]
  /** Where the zones are kept, so that a new start answers at once; without it in memory alone. */
  readonly folder?: string
  /** Told of what should not happen; the asker gets SERVFAIL and everybody else is served on. */
  readonly onFault: (error: unknown) => void
}
