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

/** What a driver may have to know of the portal. */
export interface Surroundings {
  /**
   * The address under which the gateway calls us: `<portal>/api/webhooks/<name>`. Some signatures
   * are made over it.
   */
  readonly noticeUrl: string
}

type Texts = Readonly<Record<string, string>>
/** One gateway's place in the table. */
interface Place {
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

const place = <S extends z.ZodMiniType>(
  of: Place & {
    readonly settings: S
    readonly create: (settings: z.output<S>, surroundings: Surroundings) => PaymentDriver
  },
): Place & {
  readonly open: (settings: unknown, surroundings: Surroundings) => PaymentDriver
  /** What is wrong with these settings, one sentence each, by the variables' names. */
  readonly faults: (settings: unknown) => string[]
} => ({
  ...of,
  faults: (settings) =>
    (of.settings.safeParse(settings).error?.issues ?? []).map((issue) => {
      const setting = String(issue.path[0] ?? '')
      return `${of.environment[setting] ?? setting} is not right: ${issue.message}.`
    }),
  open: (settings, surroundings) => of.create(of.settings.parse(settings), surroundings),
})

export const paymentDrivers = {
  vnpay: place({ ...vnpay, create: createVnpay }),
  bank: place({ ...bank, create: createBank }),
  alepay: place({ ...alepay, create: createAlepay }),
  payos: place({ ...payos, create: createPayos }),
  stripe: place({ ...stripe, create: createStripe }),
  square: place({ ...square, create: createSquare }),
} as const
export type PaymentDriverName = keyof typeof paymentDrivers
export const paymentDriverNames = Object.keys(paymentDrivers) as PaymentDriverName[]
