/** The suite's part about cards that are charged while the customer is away. */
import { describe, expect, it } from 'vitest'
import { automaticChannel, UnknownCard, type CardDriver, type PaymentOrder } from '../driver.ts'
import { failure, type Adapter, type Counter, type Portal } from './portal.conformance.ts'

const cardDriver = (driver: Counter['driver']): CardDriver => {
  if (driver.kind !== 'card') throw new Error(`${driver.name} links no cards`)
  return driver
}

export function offSessionConforms(
  adapter: Adapter,
  of: {
    readonly counter: () => Counter
    readonly portal: Portal
    readonly order: (changes?: Partial<PaymentOrder>) => PaymentOrder
  },
): void {
  const automatic = (changes: Partial<PaymentOrder> = {}): PaymentOrder => {
    const made = of.order({ channel: automaticChannel, ...changes })
    of.portal.orders.set(made.reference, made)
    return made
  }
  const linked = async (order: PaymentOrder, which: 'pays' | 'declines' | 'asks') => {
    const { linkedCard } = of.counter()
    if (!linkedCard) throw new Error('the adapter links no cards')
    return await linkedCard(order.buyer, which)
  }
  const driver = (): CardDriver => cardDriver(of.counter().driver)

  describe(`${adapter.name}: charging while nobody is there`, () => {
    it('charges the card, and the notice and a question say the same', async () => {
      const order = automatic()
      const update = await driver().chargeOffSession(order, await linked(order, 'pays'))
      expect(update).toMatchObject({
        reference: order.reference,
        status: 'succeeded',
        amount: order.amount,
        currency: order.currency,
        providerTransactionId: expect.stringMatching(/./) as string,
      })
      const [webhook] = await of.portal.webhooks(order.reference)
      for (const other of [webhook?.update, await driver().lookUp(order)])
        expect(other).toMatchObject({
          status: 'succeeded',
          providerTransactionId: update.providerTransactionId,
        })
    })

    it('asked twice, or twice at once, with the same code charges once', async () => {
      const order = automatic()
      const card = await linked(order, 'pays')
      const first = await driver().chargeOffSession(order, card)
      const again = await Promise.all([
        driver().chargeOffSession(order, card),
        driver().chargeOffSession(order, card),
      ])
      for (const update of again)
        expect(update.providerTransactionId).toBe(first.providerTransactionId)
      // A second payment with the same card is a separate movement.
      const other = await driver().chargeOffSession(automatic({ buyer: order.buyer }), card)
      expect(other.providerTransactionId).not.toBe(first.providerTransactionId)
    })

    it.each([
      ['a bank that declines', 'declines', 'declined'],
      ['a bank that wants to ask the owner', 'asks', 'needs_confirmation'],
    ] as const)('%s: failed, also when asked again or later', async (_, which, reason) => {
      const order = automatic()
      const card = await linked(order, which)
      const update = await driver().chargeOffSession(order, card)
      expect(update).toMatchObject({ status: 'failed', providerTransactionId: null })
      expect(driver().declineReason?.(update.detail)).toBe(reason)
      expect(await driver().chargeOffSession(order, card)).toMatchObject({ status: 'failed' })
      const found = await driver().lookUp(order)
      expect(found?.status).toBe('failed')
      expect(driver().declineReason?.(found?.detail ?? '')).toBe(reason)
    })

    it('a card of another customer, or one that is unlinked, is unknown', async () => {
      const order = automatic()
      const card = await linked(order, 'pays')
      const stranger = automatic()
      const other = await linked(stranger, 'pays')
      const mixed = { customerRef: other.customerRef, cardId: card.cardId }
      expect(await failure(driver().chargeOffSession(order, mixed))).toBeInstanceOf(UnknownCard)
      await driver().detach(card.customerRef, card.cardId)
      expect(await failure(driver().chargeOffSession(order, card))).toBeInstanceOf(UnknownCard)
      expect(await driver().lookUp(order)).toBeNull()
    })

    it('a gateway that is away, or does not answer, is no decline', async () => {
      const order = automatic()
      const card = await linked(order, 'pays')
      const away = cardDriver(of.counter().unreachable)
      const slow = cardDriver(of.counter().slow)
      expect((await failure(away.chargeOffSession(order, card))).kind).toBe('unavailable')
      expect((await failure(slow.chargeOffSession(order, card))).kind).toMatch(
        /^(?:unclear|unavailable)$/,
      )
    })
  })
}
