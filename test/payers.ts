/** How a person pays at each gateway of the sandbox, for tests that go through all of them. */
import type { TestCustomer, TestHouse } from './house.ts'

/** A payment that was begun at a gateway. */
export interface Begun {
  readonly code: string
  pay(): Promise<void>
  /** The person gives up, or the bank says no; absent where there is no such thing. */
  readonly fail?: () => Promise<void>
}
export interface Payer {
  readonly driver: string
  readonly region: string
  /** Minor units. */
  readonly amount: number
  /** Its words are not believed: they only send the portal to ask. Forged or not, what follows is the gateway's own answer. */
  readonly onlyHints?: true
  begin(house: TestHouse, customer: TestCustomer): Promise<Begun>
}

async function checkout(
  house: TestHouse,
  { token }: TestCustomer,
  body: { amount: number; type: number; method: string | null },
): Promise<{ checkoutUrl: string; transactionCode: string }> {
  const answer = await house.call<{ checkoutUrl: string; transactionCode: string }>('POST', '/api/payments/checkout', { token, body })
  if (answer.status !== 200) throw new Error(`checkout: ${answer.text}`)
  return answer.body.result
}
const post = async (url: string | URL, fields: Record<string, string>): Promise<void> => {
  const answer = await fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) })
  if (answer.status >= 400) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
}

const vnpay: Payer = {
  driver: 'vnpay',
  region: 'VN',
  amount: 150_000,
  async begin(house, customer) {
    const { checkoutUrl, transactionCode } = await checkout(house, customer, { amount: this.amount, type: 1, method: 'QRPAY' })
    const choose = async (outcome: string): Promise<void> => {
      const page = await (await fetch(checkoutUrl)).text()
      const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? ''
      await post(new URL('/vnpay/paymentv2/Transaction/Confirm.html', house.sandboxUrl), { token, outcome })
    }
    return { code: transactionCode, pay: () => choose('paid'), fail: () => choose('insufficient') }
  },
}

const bank = (feed: 'sepay' | 'casso'): Payer => ({
  driver: 'bank',
  region: 'VN',
  amount: 150_000,
  async begin(house, customer) {
    const { transactionCode } = await checkout(house, customer, { amount: this.amount, type: 1, method: 'BANKTRANSFER' })
    const shown = await house.call<{ accountNumber: string; content: string }>(
      'GET',
      `/api/payments/transfer?transactionCode=${transactionCode}`,
      { token: customer.token },
    )
    const { accountNumber, content } = shown.body.result
    const fields = { account: accountNumber, amount: String(this.amount), content, feed }
    return { code: transactionCode, pay: () => post(`${house.sandboxUrl}/bank/app`, fields) }
  },
})

/** A gateway with a page of the common form. */
const hosted = (driver: string, method: string | null, outcomes: { readonly pay: string; readonly fail: string }): Payer => ({
  driver,
  region: 'VN',
  amount: 150_000,
  onlyHints: true,
  async begin(house, customer) {
    const { checkoutUrl, transactionCode } = await checkout(house, customer, { amount: this.amount, type: 2, method })
    const decide = (outcome: string) => async (): Promise<void> => void (await house.decide(checkoutUrl, outcome))
    return { code: transactionCode, pay: decide(outcomes.pay), fail: decide(outcomes.fail) }
  },
})

/** By the name that a table shows. */
export const payers: Readonly<Record<string, Payer>> = {
  vnpay,
  alepay: hosted('alepay', null, { pay: 'paid', fail: 'cancelled' }),
  payos: hosted('payos', 'VIETQR', { pay: 'paid', fail: 'cancelled' }),
  'bank (SePay)': bank('sepay'),
  'bank (Casso)': bank('casso'),
}
