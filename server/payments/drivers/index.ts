/** The gateways by name. Nothing else picks a driver. */
import type * as z from 'zod/mini'
import type { PaymentDriver } from '../driver.ts'
import { createBank } from './bank/index.ts'
import * as bank from './bank/settings.ts'
import { createAlepay } from './alepay/index.ts'
import * as alepay from './alepay/settings.ts'
import { createPayos } from './payos/index.ts'
import * as payos from './payos/settings.ts'
import { createSquare } from './square/index.ts'
import * as square from './square/settings.ts'
import { createStripe } from './stripe/index.ts'
import * as stripe from './stripe/settings.ts'
import { createVnpay } from './vnpay/index.ts'
import * as vnpay from './vnpay/settings.ts'

/** What a driver learns about the portal. */
export interface DriverContext {
  /**
   * The address under which the gateway calls us: `<portal>/api/webhooks/<name>`. Some gateways
   * sign it.
   */
  readonly webhookUrl: string
}

type Texts = Readonly<Record<string, string>>
/** One gateway's row in the table. */
interface DriverEntry {
  /**
   * The environment variable of each setting that an operator gives. The first is the one that says
   * "we have a contract".
   */
  readonly environment: Texts
  /** Settings that hold when the operator gives none: public addresses. */
  readonly defaults: Texts
  /**
   * Keys for the sandbox, made from the portal's secret, so that they are the same at each start.
   */
  readonly sandboxKeys: (derive: (purpose: string) => string) => Texts
  /** Settings that face the sandbox at `url`, with those keys. */
  readonly inSandbox: (url: string, keys: Texts) => Texts
}

const entry = <S extends z.ZodMiniType>(
  of: DriverEntry & {
    readonly settings: S
    readonly create: (settings: z.output<S>, context: DriverContext) => PaymentDriver
  },
): DriverEntry & {
  readonly open: (settings: unknown, context: DriverContext) => PaymentDriver
  /** Faults in these settings, one sentence each, by the variables' names. */
  readonly faults: (settings: unknown) => string[]
} => ({
  ...of,
  faults: (settings) =>
    (of.settings.safeParse(settings).error?.issues ?? []).map((issue) => {
      const setting = String(issue.path[0] ?? '')
      return `${of.environment[setting] ?? setting} is not right: ${issue.message}.`
    }),
  open: (settings, context) => of.create(of.settings.parse(settings), context),
})

export const paymentDrivers = {
  vnpay: entry({ ...vnpay, create: createVnpay }),
  bank: entry({ ...bank, create: createBank }),
  alepay: entry({ ...alepay, create: createAlepay }),
  payos: entry({ ...payos, create: createPayos }),
  stripe: entry({ ...stripe, create: createStripe }),
  square: entry({ ...square, create: createSquare }),
} as const
export type PaymentDriverName = keyof typeof paymentDrivers
export const paymentDriverNames = Object.keys(paymentDrivers) as PaymentDriverName[]
