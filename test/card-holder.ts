/**
 * Linking cards at Stripe and paying with them, as a customer and a browser do, and actions in
 * Stripe's dashboard.
 */
import { expect } from 'vitest'
import { eventually, type TestCustomer, type TestPortal } from './portal.ts'
import { testCards, type Browser, type Confirmed } from './stripe-browser.ts'

interface Begun {
  readonly code: string
  /** Pays with a linked card, as the screen does. */
  pay(cardId: string, bank?: 'confirm' | 'refuse'): Promise<Confirmed>
}

/** What cardholders do. Portal and browser must be open when the functions are called. */
export function cardsOf(portal: () => TestPortal, browser: () => Browser) {
  const secretOf = async ({ token }: TestCustomer): Promise<string> =>
    (await portal().call<{ client_secret: string }>('GET', '/api/v1/auth/card', { token })).body
      .result.client_secret
  const attach = (customer: TestCustomer, methodId: string) =>
    portal().call('PUT', '/api/payments/stripe/attach', {
      token: customer.token,
      body: { methodId },
    })
  async function link(customer: TestCustomer, number: string): Promise<string> {
    const { payment_method: id = '' } = await browser().confirm(await secretOf(customer), {
      number,
    })
    expect((await attach(customer, id)).status).toBe(200)
    return id
  }
  async function begin(customer: TestCustomer, amount = 2000): Promise<Begun> {
    const { token } = customer
    const begun = await portal().call<{ transId: string }>(
      'POST',
      '/api/payments/stripe/checkout',
      { token, body: { amount } },
    )
    expect(begun.status).toBe(200)
    const code = begun.body.result.transId
    return {
      code,
      async pay(cardId, bank) {
        const confirmed = await confirm(customer, code, cardId)
        expect(confirmed.status).toBe(200)
        return await browser().confirm(confirmed.body.result.client_secret, null, bank)
      },
    }
  }
  const confirm = ({ token }: TestCustomer, code: string, methodId: string) =>
    portal().call<{ client_secret: string }>('POST', `/api/payments/stripe/${code}/confirm`, {
      token,
      body: { method_id: methodId },
    })
  const statusOf = async ({ token }: TestCustomer, code: string): Promise<string> =>
    (
      await portal().call<{ status: string }>(
        'GET',
        `/api/payments/get-transaction?transactionCode=${code}`,
        { token },
      )
    ).body.result.status
  const balanceOf = async ({ token }: TestCustomer): Promise<number> =>
    (await portal().call<{ balance: number }>('GET', '/api/v1/auth/me', { token })).body.result
      .balance
  const amounts = async ({ token }: TestCustomer): Promise<number[]> =>
    (
      await portal().call<{ amount: number }[]>('GET', '/api/payments/stripe', { token })
    ).body.result
      .map(({ amount }) => amount)
      .toReversed()
  const becomes = (customer: TestCustomer, code: string, status: string) =>
    eventually(`the payment is ${status}`, async () => (await statusOf(customer, code)) === status)
  const balances = (customer: TestCustomer, balance: number) =>
    eventually(`the balance is ${balance}`, async () => (await balanceOf(customer)) === balance)
  const dashboard = (fields: Record<string, string>) =>
    fetch(`${portal().sandboxUrl}/stripe/dashboard`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields),
    })
  const eventsGo = (manner: string) => dashboard({ action: 'events', manner })
  const refOf = async (code: string): Promise<string> =>
    (
      await portal()
        .app.db.selectFrom('payment')
        .select('provider_ref')
        .where('code', '=', code)
        .executeTakeFirstOrThrow()
    ).provider_ref ?? ''
  async function paid(
    customer: TestCustomer,
    amount = 2000,
  ): Promise<{ code: string; payment: string }> {
    const begun = await begin(customer, amount)
    await begun.pay(await link(customer, testCards.visa))
    await becomes(customer, begun.code, 'succeeded')
    return { code: begun.code, payment: await refOf(begun.code) }
  }

  return {
    secretOf,
    attach,
    link,
    begin,
    confirm,
    statusOf,
    balanceOf,
    amounts,
    becomes,
    balances,
    dashboard,
    eventsGo,
    refOf,
    paid,
  }
}
