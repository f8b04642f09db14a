/** How a person pays at each gateway of the sandbox, for tests of all gateways. */
import type { TestCustomer, TestPortal } from './portal.ts'
import { stripeBrowser, testCards } from './stripe-browser.ts'

/** A payment that was begun at a gateway. */
export interface Begun {
  readonly code: string
  pay(): Promise<void>
  /** The person gives up, or the bank refuses; absent where the gateway has no such case. */
  readonly fail?: () => Promise<void>
}
export interface Payer {
  readonly driver: string
  readonly region: string
  /** Minor units. */
  readonly amount: number
  /**
   * Its webhooks are untrusted and only make the portal query the gateway. Forged or not, the
   * result is the gateway's own response.
   */
  readonly onlyHints?: true
  /** The gateway does not report a payment that was given up. */
  readonly silentFailure?: true
  /** The call that begins the payment also pays it. */
  readonly immediate?: true
  begin(portal: TestPortal, customer: TestCustomer): Promise<Begun>
}

async function checkout(
  portal: TestPortal,
  { token }: TestCustomer,
  body: { amount: number; type: number; method: string | null },
): Promise<{ checkoutUrl: string; transactionCode: string }> {
  const answer = await portal.call<{ checkoutUrl: string; transactionCode: string }>(
    'POST',
    '/api/payments/checkout',
    { token, body },
  )
  if (answer.status !== 200) throw new Error(`checkout: ${answer.text}`)
  return answer.body.result
}
const post = async (url: string | URL, fields: Record<string, string>): Promise<void> => {
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(fields),
  })
  if (answer.status >= 400) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
}

const vnpay: Payer = {
  driver: 'vnpay',
  region: 'VN',
  amount: 150_000,
  async begin(portal, customer) {
    const { checkoutUrl, transactionCode } = await checkout(portal, customer, {
      amount: this.amount,
      type: 1,
      method: 'QRPAY',
    })
    const choose = async (outcome: string): Promise<void> => {
      const page = await (await fetch(checkoutUrl)).text()
      const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? ''
      await post(new URL('/vnpay/paymentv2/Transaction/Confirm.html', portal.sandboxUrl), {
        token,
        outcome,
      })
    }
    return { code: transactionCode, pay: () => choose('paid'), fail: () => choose('insufficient') }
  },
}

const bank = (feed: 'sepay' | 'casso'): Payer => ({
  driver: 'bank',
  region: 'VN',
  amount: 150_000,
  async begin(portal, customer) {
    const { transactionCode } = await checkout(portal, customer, {
      amount: this.amount,
      type: 1,
      method: 'BANKTRANSFER',
    })
    const shown = await portal.call<{ accountNumber: string; content: string }>(
      'GET',
      `/api/payments/transfer?transactionCode=${transactionCode}`,
      { token: customer.token },
    )
    const { accountNumber, content } = shown.body.result
    const fields = { account: accountNumber, amount: String(this.amount), content, feed }
    return { code: transactionCode, pay: () => post(`${portal.sandboxUrl}/bank/app`, fields) }
  },
})

/** A gateway with a hosted page of the common form. */
const hosted = (
  driver: string,
  method: string | null,
  more: Pick<Payer, 'silentFailure'> = {},
): Payer => ({
  ...more,
  driver,
  region: 'VN',
  amount: 150_000,
  onlyHints: true,
  async begin(portal, customer) {
    const { checkoutUrl, transactionCode } = await checkout(portal, customer, {
      amount: this.amount,
      type: 2,
      method,
    })
    const decide = (outcome: string) => async (): Promise<void> =>
      void (await portal.decide(checkoutUrl, outcome))
    return { code: transactionCode, pay: decide('paid'), fail: decide('cancelled') }
  },
})

/** Each customer's linked cards: one that pays, and one that is refused when charged. */
const linked = new Map<string, Promise<{ good: string; bad: string }>>()
const stripe: Payer = {
  driver: 'stripe',
  region: 'AUD',
  amount: 2000,
  onlyHints: true,
  async begin(portal, customer) {
    const { token } = customer
    const browser = stripeBrowser(
      portal.sandboxUrl,
      portal.keysOf('stripe')['publishableKey'] ?? '',
    )
    const link = async (number: string): Promise<string> => {
      const { body } = await portal.call<{ client_secret: string }>('GET', '/api/v1/auth/card', {
        token,
      })
      const { payment_method: methodId = '' } = await browser.confirm(body.result.client_secret, {
        number,
      })
      await portal.call('PUT', '/api/payments/stripe/attach', { token, body: { methodId } })
      return methodId
    }
    const cards =
      linked.get(customer.id) ??
      (async () => ({
        good: await link(testCards.visa),
        bad: await link(testCards.linkedThenDeclined),
      }))()
    linked.set(customer.id, cards)
    const begun = await portal.call<{ transId: string }>('POST', '/api/payments/stripe/checkout', {
      token,
      body: { amount: this.amount },
    })
    const code = begun.body.result.transId
    const payWith = async (card: string): Promise<void> => {
      const confirmed = await portal.call<{ client_secret: string }>(
        'POST',
        `/api/payments/stripe/${code}/confirm`,
        {
          token,
          body: { method_id: card },
        },
      )
      await browser.confirm(confirmed.body.result.client_secret, null)
    }
    return {
      code,
      pay: async () => payWith((await cards).good),
      fail: async () => payWith((await cards).bad),
    }
  },
}

const square: Payer = {
  driver: 'square',
  region: 'AUD',
  amount: 1500,
  immediate: true,
  async begin(portal, { token }) {
    const { body } = await portal.call<{ square: { locationId: string } }>('GET', '/api/config')
    const paid = await portal.call<{ transactionCode: string }>(
      'POST',
      '/api/payments/square/checkout',
      {
        token,
        body: {
          amount: this.amount,
          locationId: body.result.square.locationId,
          source_id: 'cnon:card-nonce-ok',
        },
      },
    )
    if (paid.status !== 200) throw new Error(`square: ${paid.text}`)
    return { code: paid.body.result.transactionCode, pay: async () => undefined }
  },
}

/** By the name in the printed table. */
export const payers: Readonly<Record<string, Payer>> = {
  vnpay,
  alepay: hosted('alepay', null),
  payos: hosted('payos', 'VIETQR', { silentFailure: true }),
  'bank (SePay)': bank('sepay'),
  'bank (Casso)': bank('casso'),
  stripe,
  square,
}
