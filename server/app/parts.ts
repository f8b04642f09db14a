/** The portal's dependencies. */
import type { Catalog, CatalogFileText } from '../catalog/index.ts'
import type { OrderTimes } from '../certificates/index.ts'
import type { Config } from '../config.ts'
import type { Drivers } from '../drivers.ts'
import type { Clock } from '../platform/clock.ts'
import type { MayConnect } from '../platform/judged-address.ts'
import type { Log } from '../platform/log.ts'
import type { MetricTimes } from '../platform/metrics.ts'
import type { Secrets } from '../platform/secrets.ts'

export interface AppParts {
  readonly config: Config
  readonly databaseUrl: string
  readonly catalog: Catalog
  /**
   * The file that `catalog` was read from; if given, the catalogue follows the version in the
   * database.
   */
  readonly catalogFile?: CatalogFileText
  readonly drivers: Drivers
  readonly secrets: Secrets
  readonly clock: Clock
  readonly log: Log
  /** Null without the sandbox. */
  readonly sandboxUrl: string | null
  /** The local DNS port of the sandbox's registry; null without the sandbox. */
  readonly registryPort: number | null
  /** Time limits that a test shortens. */
  readonly timing?: Timing
  /** Which addresses customers may have us connect to; public ones when not given. */
  readonly mayFetch?: MayConnect | undefined
}

export interface Timing {
  /** Seconds before each query of a gateway that sent no webhook; the last value repeats. */
  readonly askGatewaySeconds?: readonly number[]
  /** Seconds before each further try of a webhook. */
  readonly webhookSeconds?: readonly number[]
  /** Longest time of one call of a webhook, ms. */
  readonly webhookMs?: number
  /** How long a node accepts writes without contact to a portal. */
  readonly nodeLeaseMs?: number
  /** How long a node must be silent before its mirrored servers come up elsewhere, ms. */
  readonly mirrorFailoverMs?: number
  /** Interval between the beginnings of a mirror's rounds, seconds. */
  readonly mirrorSeconds?: number
  /** Longest time of one step of setting a server up. */
  readonly provisionStepMs?: number
  /** When nightly backups begin, as a line of cron in UTC. */
  readonly nights?: string
  readonly metrics?: Partial<MetricTimes>
  /** Longest times of calls to certificate authorities, and of orders. */
  readonly certificates?: Partial<OrderTimes>
}
