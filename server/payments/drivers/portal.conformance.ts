/**
 * The fixtures of the payment drivers' suite: the adapter that a driver's own test writes, a portal
 * of one page, and calls that may fail.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import type { Currency } from '../../../contract/money.ts'
import { DriverFailure } from '../../platform/errors.ts'
import type {
  PaymentUpdate,
  UpdateOutcome,
  WebhookRequest,
  PaymentDriver,
  PaymentOrder,
  Refund,
  WebhookEvent,
} from '../driver.ts'

/** What a person may do on the payment page. */
export type Choice = 'pay' | 'fail' | 'cancel' | 'suspicious'

/** The surroundings that an adapter gets at its start. */
interface PortalSurroundings {
  /** Accepts the gateway's webhooks on every path. No slash at the end. */
  readonly portalUrl: string
  /** An address where nothing listens. */
  readonly closedUrl: string
  /** Takes requests and never answers. */
  readonly silentUrl: string
}

/** A payment that was begun, and what a person can do about it. */
export interface Begun {
  readonly providerRef: string | null
  /** The address or secret given to the browser. It is the same for the same payment. */
  readonly handed: string
  /** The person opens the payment page and does nothing yet. */
  open(): Promise<void>
  /** The person decides; answers where the browser is sent, or null when it stays. */
  choose(choice: Choice): Promise<string | null>
}

/** A started stand-in and the drivers that call it. */
export interface Counter {
  readonly driver: PaymentDriver
  /** The same driver with the gateway at `closedUrl`. */
  readonly unreachable: PaymentDriver
  /** The same driver with the gateway at `silentUrl` and a time limit of well under a second. */
  readonly slow: PaymentDriver
  /** Begins a payment with this driver, as the portal does. */
  begin(driver: PaymentDriver, order: PaymentOrder): Promise<Begun>
  /**
   * Forged webhooks made from a genuine one, which must be refused: tampered, unsigned, signed with
   * another key.
   */
  forgeries(genuine: WebhookRequest): readonly WebhookRequest[]
  /**
   * Links a card for a buyer: one that pays, one whose bank declines later charges, or one whose
   * bank wants the owner's confirmation then. Absent: the gateway links no cards.
   */
  linkedCard?(
    buyer: PaymentOrder['buyer'],
    which: 'pays' | 'declines' | 'asks',
  ): Promise<{ readonly customerRef: string; readonly cardId: string }>
  /**
   * Makes the gateway forget the ids of past refund requests, as happens with time. Absent: it
   * keeps them for ever.
   */
  forgetRefundIds?(): Promise<void>
  close(): Promise<void>
}

export interface Adapter {
  readonly name: string
  readonly currency: Currency
  readonly choices: readonly Choice[]
  /** Whether begin itself calls the gateway (then it fails when the gateway is away). */
  readonly beginCalls: boolean
  /** Whether the gateway knows a payment before it is paid; a bank account knows none. */
  readonly knowsOpen: boolean
  /**
   * Whether it gives money back at all. A driver without `refund` says no here, and the suite holds
   * it to that.
   */
  readonly refunds: boolean
  /**
   * Whether a lookup of the payment shows a full refund; some gateways report only the refund
   * itself.
   */
  readonly showsRefunds: boolean
  /** Whether linked cards are charged while the customer is away. */
  readonly offSession?: true
  start(context: PortalSurroundings): Promise<Counter>
}

interface ReceivedWebhook {
  readonly request: WebhookRequest
  readonly update: PaymentUpdate
}

export const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
export const shut = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

/**
 * A portal of one page: it reads webhooks with the driver (a RecheckRequest makes it query the
 * gateway) and sends the configured response.
 */
export class Portal {
  readonly received: ReceivedWebhook[] = []
  readonly orders = new Map<string, PaymentOrder>()
  /** The responses to the next webhooks, in order; the last one repeats. */
  outcomes: UpdateOutcome[] = ['recorded']
  driver: PaymentDriver | undefined
  #listeners: (() => void)[] = []
  readonly server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.join(', ') : value,
        ]),
      )
      const query = new URL(incoming.url ?? '/', 'http://portal').searchParams
      void this.#receive(
        { method: incoming.method ?? '', headers, query, rawBody: Buffer.concat(chunks) },
        response,
      )
    })
  })

  async #receive(request: WebhookRequest, response: ServerResponse): Promise<void> {
    const update = await this.#resolve(this.driver?.readWebhook(request) ?? null)
    const outcome =
      (this.outcomes.length > 1 ? this.outcomes.shift() : this.outcomes[0]) ?? 'recorded'
    const answer = this.driver?.answerTo(outcome)
    response
      .writeHead(answer?.status ?? 500, { 'content-type': answer?.contentType ?? 'text/plain' })
      .end(answer?.body)
    if (update !== null) this.received.push({ request, update })
    for (const listener of this.#listeners.splice(0)) listener()
  }

  /** A RecheckRequest leads to the gateway's own answer, under the request's event id. */
  async #resolve(event: WebhookEvent): Promise<PaymentUpdate | null> {
    if (event === null || 'dispute' in event) return null
    if (!('ask' in event)) return event
    const order = this.orders.get(event.reference)
    const update =
      order === undefined ? null : ((await this.driver?.lookUp(order, event.about)) ?? null)
    return update && { ...update, eventId: event.eventId }
  }

  /** The first `count` webhooks about a payment, once they have come. */
  async webhooks(reference: string, count = 1): Promise<ReceivedWebhook[]> {
    for (;;) {
      const found = this.received.filter(({ update }) => update.reference === reference)
      if (found.length >= count) return found
      await new Promise<void>((resolve) => this.#listeners.push(resolve))
    }
  }
}

export const refundBy = async (
  driver: PaymentDriver,
  of: PaymentOrder,
  input: Refund,
): Promise<PaymentUpdate> => {
  if (!driver.refund) throw new Error(`${driver.name} has no refund: say so in its adapter`)
  return await driver.refund(of, input)
}
export async function failure(work: Promise<unknown>): Promise<DriverFailure> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(outcome).toBeInstanceOf(DriverFailure)
  return outcome as DriverFailure
}
