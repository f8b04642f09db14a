/** The interface of every payment gateway's stand-in. */
import type { Routes } from './http.ts'

/** A gateway's keys, as given to its merchant; each gateway reads its own. */
export type Keys = Readonly<Record<string, string>>

export interface GatewayOptions {
  /** The merchant's webhook address. */
  readonly webhookUrl: () => string
  /** The sandbox's address for a browser, without a slash at the end. */
  readonly url: () => string
  readonly pace: number
  readonly log: (line: string) => void
}
export interface Gateway {
  readonly routes: Routes
  /** Finishes the calls in progress. */
  close(): Promise<void>
}
