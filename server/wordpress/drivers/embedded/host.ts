import type { Archivist } from './copies.ts'
import type { Gate } from './gate.ts'

/** What all sites of a driver share. */
export interface Host {
  readonly sitesDir: string
  readonly runtimeDir: string
  readonly filesDir: string
  readonly nodePath: string
  readonly internet: boolean
  /** ms that PHP may take for one request; the runtime's own limit when undefined. */
  readonly requestMs: number | undefined
  /** Booting is the costly part: few at a time. */
  readonly boots: Gate
  readonly archivist: Archivist
  readonly warn: (detail: object, message: string) => void
}
