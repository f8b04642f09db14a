/** A test portal that sends webhooks: its customers' webhooks, and their deliveries. */
import { expect } from 'vitest'
import type { Delivery, Webhook } from '../contract/webhooks.ts'
import {
  eventually,
  openTestPortal,
  type ManualClock,
  type TestCustomer,
  type TestPortal,
} from './portal.ts'

/** A portal that may call the tests' receivers. */
export const openWebhookPortal = (clock: ManualClock): Promise<TestPortal> =>
  openTestPortal({
    clock,
    mayFetch: (address) => address === '127.0.0.1',
    // The clock stands still, so deliveries have no delays. Others are served while a call waits.
    timing: { webhookSeconds: [0, 0, 0], webhookMs: 4_000 },
  })

export type Made = { webhook: Webhook; secret: string }

/** What customers do at a portal that must be open when the functions are called. */
export function webhooksOf(portal: () => TestPortal, clock: ManualClock) {
  const webhooks = <T>(who: TestCustomer, method: string, path = '', body?: unknown) =>
    portal().call<T>(method, `/api/v1/account/webhooks${path}`, {
      token: who.token,
      ...(body !== undefined && { body }),
    })
  const addressOf = async (
    who: TestCustomer,
    url: string,
    events: readonly string[] = ['wallet.credited'],
  ) => {
    const made = await webhooks<Made>(who, 'POST', '', { url, events })
    expect(made.status, made.text).toBe(201)
    const { webhook, secret } = made.body.result
    return { id: webhook.id, secret }
  }
  const page = async (who: TestCustomer, id: string) =>
    (await webhooks<{ webhook: Webhook; deliveries: Delivery[] }>(who, 'GET', `/${id}/deliveries`))
      .body.result
  const tryOut = async (who: TestCustomer, id: string): Promise<string> => {
    const begun = await webhooks<{ id: string }>(who, 'POST', `/${id}/test`)
    expect(begun.status, begun.text).toBe(201)
    return begun.body.result.id
  }
  const settledAs = (who: TestCustomer, id: string, delivery: string, state: Delivery['state']) =>
    eventually(`the delivery is ${state}`, async () =>
      (await page(who, id)).deliveries.find((one) => one.id === delivery && one.state === state),
    )
  /** Sessions expire meanwhile, so the customer gets a new one. */
  const travel = async (who: TestCustomer, byMs: number): Promise<TestCustomer> => {
    clock.advance(byMs)
    return await portal().signIn(who)
  }

  return { webhooks, addressOf, page, tryOut, settledAs, travel }
}
