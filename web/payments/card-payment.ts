/** A payment with a linked card, from our transaction to the provider's answer. */
import { cardCheckout, confirmCard } from '../../contract/cards.ts'
import type { Config } from '../../contract/system.ts'
import { getTransaction } from '../../contract/payments.ts'
import { ApiError, Attempt, call } from '../api.ts'
import { cardProvider, type CardError } from './card-provider.ts'

export type CardOutcome =
  | { readonly kind: 'succeeded' | 'other'; readonly code: string }
  | { readonly kind: 'error'; readonly error: CardError }

/**
 * Keeps the transaction of one amount, so that after a refusal another card pays the same
 * transaction.
 */
export class CardPayment {
  readonly #open = new Attempt()
  readonly #confirm = new Attempt()
  #begun: { readonly amount: number; readonly code: string } | undefined

  /**
   * Throws ApiError for a refusal by our server, and any error when the provider's script does not
   * load.
   */
  async pay(cards: Config['cards'], amount: number, methodId: string): Promise<CardOutcome> {
    const provider = await cardProvider(cards)
    if (this.#begun?.amount !== amount) {
      const { transId } = await this.#open.run(cardCheckout, { body: { amount } })
      this.#begun = { amount, code: transId }
    }
    const { code } = this.#begun
    let secret: string
    try {
      ;({ client_secret: secret } = await this.#confirm.run(confirmCard, {
        params: { transId: code },
        body: { method_id: methodId },
      }))
    } catch (error) {
      this.#begun = undefined
      // The provider may have charged this transaction although its answer never arrived. Then it
      // is paid, and must not be paid again.
      if (error instanceof ApiError && error.status === 409) {
        const { status } = await call(getTransaction, { query: { transactionCode: code } })
        if (status === 'succeeded') return { kind: 'succeeded', code }
      }
      throw error
    }
    const { error, paymentIntent } = await provider.confirmCardPayment(secret)
    if (error) return { kind: 'error', error }
    this.#begun = undefined
    return { kind: paymentIntent?.status === 'succeeded' ? 'succeeded' : 'other', code }
  }
}
