/** Settings of the embedded name server. */
export interface Settings {
  /** Address to listen on, UDP and TCP. */
  readonly host: string
  readonly port: number
  /** Addresses that may fetch whole zones (AXFR, over TCP). */
  readonly transferTo: readonly string[]
  /**
   * The folder in which zones are stored, so that a restarted name server answers at once. Absent:
   * zones are kept in memory only.
   */
  readonly folder?: string
  /** Called for unexpected errors; the client gets SERVFAIL, and the service goes on. */
  readonly onFault: (error: unknown) => void
}
