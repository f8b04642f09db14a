/** What every stand-in of a payment gateway is. */
import type { Routes } from './http.ts'

/** A gateway's keys, as its merchant was given them; each gateway reads its own. */
export type Keys = Readonly<Record<string, string>>

export interface GatewayOptions {
  /** The merchant's webhook address. */
  readonly webhookUrl: () => string
  /** Where the sandbox is reached by a browser, without a slash at the end. */
  readonly url: () => string
  readonly pace: number
  readonly log: (line: string) => void
}
export interface Gateway {
  readonly routes: Routes
  /** Finishes what is in flight. */
  close(): Promise<void>
}
