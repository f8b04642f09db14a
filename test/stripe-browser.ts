/** What Stripe.js does in a browser, over HTTP, for tests without a browser. */

export interface Confirmed {
  readonly id?: string
  readonly status?: string
  readonly payment_method?: string
  readonly error?: { readonly type: string; readonly code?: string; readonly message: string }
}
export interface Browser {
  /**
   * Types a card in and confirms the setup or the payment; a bank's challenge is confirmed or
   * refused.
   */
  confirm(
    clientSecret: string,
    card: { number: string } | { id: string } | null,
    bank?: 'confirm' | 'refuse',
  ): Promise<Confirmed>
}

export const testCards = {
  visa: '4242424242424242',
  mastercard: '5555555555554444',
  amex: '378282246310005',
  jcb: '3566002020360505',
  declined: '4000000000000002',
  linkedThenDeclined: '4000000000000341',
  insufficient: '4000000000009995',
  expired: '4000000000000069',
  asksOnce: '4000002500003155',
  asksAlways: '4000002760003184',
} as const

export function stripeBrowser(sandboxUrl: string, publishableKey: string): Browser {
  async function post<T>(path: string, fields: Record<string, string>): Promise<T> {
    const answer = await fetch(`${sandboxUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${publishableKey}` },
      body: new URLSearchParams(fields),
    })
    return (await answer.json()) as T
  }
  return {
    async confirm(clientSecret, card, bank = 'confirm') {
      let method: string | undefined
      if (card && 'id' in card) method = card.id
      else if (card) {
        const made = await post<Confirmed>('/v1/payment_methods', {
          type: 'card',
          'card[number]': card.number,
          'card[exp_month]': '12',
          'card[exp_year]': '2034',
          'card[cvc]': '123',
        })
        if (made.id === undefined) return made
        method = made.id
      }
      const id = clientSecret.split('_secret_')[0] ?? ''
      const kind = id.startsWith('pi_') ? 'payment_intents' : 'setup_intents'
      const confirmed = await post<Confirmed>(`/v1/${kind}/${id}/confirm`, {
        client_secret: clientSecret,
        ...(method !== undefined && { payment_method: method }),
      })
      if (confirmed.status !== 'requires_action') return confirmed
      return await post<Confirmed>('/stripe/3ds', {
        intent: id,
        client_secret: clientSecret,
        outcome: bank,
      })
    },
  }
}
