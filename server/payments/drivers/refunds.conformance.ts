/**
 * Refunds, for every payment driver: each request is refunded once and never more than was paid; a
 * driver without refunds refuses.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { days, later } from '../../platform/clock.ts'
import type { PaymentUpdate, PaymentOrder } from '../driver.ts'
import { failure, refundBy, type Adapter, type Begun, type Counter } from './portal.conformance.ts'

/** The fixtures of a test; the counter exists by the first test. */
interface Payments {
  counter(): Counter
  begun(): Promise<{ order: PaymentOrder; begun: Begun }>
  paid(): Promise<{ order: PaymentOrder; update: PaymentUpdate }>
}

export function refundsConform(adapter: Adapter, payments: Payments): void {
  const { begun, paid } = payments
  let counter: Counter
  const withoutRefunds = (): void => {
    it('is nothing that it claims to do', () => expect(counter.driver.refund).toBeUndefined())
  }
  const withRefunds = (): void => {
    it('gives all back, and only once for one id', async () => {
      const { order: made, update } = await paid()
      const input = {
        refundId: `R${made.code}`.slice(0, 32),
        amount: made.amount,
        reason: 'Khách hàng yêu cầu',
        providerTransactionId: update.providerTransactionId,
      }
      expect(await refundBy(counter.driver, made, input)).toMatchObject({
        reference: made.reference,
        status: 'refunded',
        amount: made.amount,
      })
      expect(await refundBy(counter.driver, made, input)).toMatchObject({
        status: 'refunded',
        amount: made.amount,
      })
      expect((await counter.driver.lookUp(made))?.status).toBe(
        adapter.showsRefunds ? 'refunded' : 'succeeded',
      )
    })

    it('gives parts back, each once, and never more than was paid', async () => {
      const { order: made, update } = await paid()
      const part = made.amount / 3n
      const input = { reason: 'part', providerTransactionId: update.providerTransactionId }
      const first = { ...input, refundId: `A${made.code}`, amount: part }
      expect(await refundBy(counter.driver, made, first)).toMatchObject({
        status: 'refunded',
        amount: part,
      })
      // the same id again: either the same answer, or "it may have happened", but no second
      // movement
      await refundBy(counter.driver, made, first).catch((error: unknown) =>
        expect(error).toMatchObject({ name: 'DriverFailure', kind: 'unclear' }),
      )
      expect(
        await refundBy(counter.driver, made, {
          ...input,
          refundId: `B${made.code}`,
          amount: made.amount - part,
        }),
      ).toMatchObject({
        status: 'refunded',
      })
      await failure(
        refundBy(counter.driver, made, { ...input, refundId: `C${made.code}`, amount: part }),
      )
      await failure(
        refundBy(counter.driver, made, {
          ...input,
          refundId: `D${made.code}`,
          amount: made.amount + 1n,
        }),
      )
    })

    it('gives a part back once, also when the gateway has forgotten its id', async () => {
      const { order: made, update } = await paid()
      const part = made.amount / 3n
      const input = { reason: 'part', providerTransactionId: update.providerTransactionId }
      const first = { ...input, refundId: `F${made.code}`, amount: part }
      const answer = await refundBy(counter.driver, made, first)
      await counter.forgetRefundIds?.()
      const firstAskedAt = later(new Date(), -days(2))
      // The same refund, or a no, which a person reads.
      const again = await refundBy(counter.driver, made, { ...first, firstAskedAt }).catch(
        (error: unknown) => error,
      )
      expect([answer, expect.objectContaining({ kind: 'rejected' })]).toContainEqual(again)
      expect(
        await refundBy(counter.driver, made, {
          ...input,
          refundId: `G${made.code}`,
          amount: made.amount - part,
        }),
      ).toMatchObject({ status: 'refunded' })
    })

    it("does so also when the gateway's own id is not at hand", async () => {
      const { order: made } = await paid()
      expect(
        await refundBy(counter.driver, made, {
          refundId: `N${made.code}`,
          amount: made.amount,
          reason: 'x',
          providerTransactionId: null,
        }),
      ).toMatchObject({ status: 'refunded' })
    })

    it('has nothing to give back of what was not paid', async () => {
      const { order: made, begun: payment } = await begun()
      if (adapter.choices.includes('cancel')) await payment.choose('cancel')
      expect(
        (
          await failure(
            refundBy(counter.driver, made, {
              refundId: 'R',
              amount: made.amount,
              reason: 'x',
              providerTransactionId: null,
            }),
          )
        ).kind,
      ).toBe('rejected')
    })
  }
  describe(`${adapter.name}: giving back`, () => {
    beforeAll(() => {
      counter = payments.counter()
    })
    const tests = adapter.refunds ? withRefunds : withoutRefunds
    tests()
  })
}
