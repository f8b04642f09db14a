/**
 * Receivers of outgoing webhooks that fail: retries, giving up, switching off, and no delay for
 * others.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Delivery, Webhook } from '../../contract/webhooks.ts'
import { eventually, manualClock, type TestPortal } from '../../test/portal.ts'
import { answersWith, isSignedBy, receiver } from '../../test/webhook-receiver.ts'
import { openWebhookPortal, webhooksOf } from '../../test/webhook-world.ts'
import { days, seconds } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openWebhookPortal(clock)
})
afterAll(() => portal.close())

const { webhooks, addressOf, page, tryOut, settledAs, travel } = webhooksOf(() => portal, clock)

describe('a receiver that fails', () => {
  test('is called again under the same id, with the same body, until it takes it', async () => {
    const an = await portal.customer()
    const one = await receiver()
    const { id, secret } = await addressOf(an, one.url)
    one.answer = (call, response) =>
      answersWith(one.calls.length < 3 ? 503 : 204, 'not now')(call, response)
    const delivery = await tryOut(an, id)
    const shown = await settledAs(an, id, delivery, 'delivered')
    expect(shown.attempts.map(({ status }) => status)).toEqual([503, 503, 204])
    expect(new Set(one.calls.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([delivery]),
    )
    expect(new Set(one.calls.map(({ body }) => body)).size).toBe(1)
    expect(one.calls.every((call) => isSignedBy(secret, call))).toBe(true)
    expect((await page(an, id)).webhook.failingSince).toBeNull()
  })

  test('is given up after the last try, and called again at the press of a button', async () => {
    const an = await portal.customer()
    const one = await receiver()
    one.answer = answersWith(500, 'broken')
    const { id } = await addressOf(an, one.url)
    const delivery = await tryOut(an, id)
    const failed = await settledAs(an, id, delivery, 'failed')
    expect(failed.attempts).toHaveLength(4)
    expect(failed.answer).toBe('broken')
    expect((await page(an, id)).webhook.failingSince).not.toBeNull()
    one.answer = answersWith(200)
    const again = await webhooks<Delivery>(an, 'POST', `/${id}/deliveries/${delivery}/replay`)
    expect(again.body.result).toMatchObject({ id: delivery, state: 'waiting' })
    await settledAs(an, id, delivery, 'delivered')
    expect(one.calls.at(-1)?.headers['webhook-id']).toBe(delivery)
    expect(one.calls).toHaveLength(5)
  })

  test('is switched off after five days, with a letter, and on again by its owner', async () => {
    let an = await portal.customer()
    const one = await receiver()
    one.answer = answersWith(500)
    const { id } = await addressOf(an, one.url)
    await settledAs(an, id, await tryOut(an, id), 'failed')
    an = await travel(an, days(5) - seconds(1))
    await settledAs(an, id, await tryOut(an, id), 'failed')
    expect((await page(an, id)).webhook.disabled).toBeNull()
    clock.advance(seconds(1))
    const last = await tryOut(an, id)
    await settledAs(an, id, last, 'failed')
    const { webhook } = await page(an, id)
    expect(webhook.disabled?.reason).toBe('failing')
    await eventually('the letter is there', async () =>
      (await portal.inbox(an.email)).some(({ text }) => text.includes(one.url)),
    )
    const calls = one.calls.length
    const refused = await webhooks(an, 'POST', `/${id}/test`)
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'This address is switched off. Switch it on first.',
    ])
    await portal.topUp(an, 100_000)
    await eventually('the event is sent to browsers', async () => {
      const { body } = await portal.call<{ data: { event: string }[] }>(
        'GET',
        '/api/notifications',
        { token: an.token },
      )
      return body.result.data.some(({ event }) => event === 'wallet.credited')
    })
    one.answer = answersWith(200)
    const on = await webhooks<Webhook>(an, 'PUT', `/${id}`, { enabled: true })
    expect(on.body.result).toMatchObject({ disabled: null, failingSince: null })
    await settledAs(an, id, await tryOut(an, id), 'delivered')
    // Events from the time when it was off are not sent afterwards.
    expect(one.calls.length).toBe(calls + 1)
  })

  test('under another address begins anew', async () => {
    let an = await portal.customer()
    const [one, other] = [await receiver(), await receiver()]
    one.answer = answersWith(500)
    other.answer = answersWith(503)
    const { id } = await addressOf(an, one.url)
    await settledAs(an, id, await tryOut(an, id), 'failed')
    an = await travel(an, days(5) + seconds(1))
    const moved = await webhooks<Webhook>(an, 'PUT', `/${id}`, { url: other.url })
    expect(moved.body.result).toMatchObject({ url: other.url, failingSince: null })
    await settledAs(an, id, await tryOut(an, id), 'failed')
    expect((await page(an, id)).webhook.disabled).toBeNull()
    expect(other.calls).toHaveLength(4)
  })

  test('that is gone is called no more at once', async () => {
    const an = await portal.customer()
    const one = await receiver()
    one.answer = answersWith(410)
    const { id } = await addressOf(an, one.url)
    await settledAs(an, id, await tryOut(an, id), 'failed')
    expect((await page(an, id)).webhook.disabled?.reason).toBe('gone')
    expect(one.calls).toHaveLength(1)
  })

  test('with redirects leads nowhere', async () => {
    const an = await portal.customer()
    const [one, target] = [await receiver(), await receiver()]
    one.answer = answersWith(307, '', { location: target.url })
    const { id } = await addressOf(an, one.url)
    const shown = await settledAs(an, id, await tryOut(an, id), 'failed')
    expect(shown.attempts[0]?.status).toBe(307)
    expect(target.calls).toEqual([])
  })

  test('with an answer that never ends is heard for a kilobyte', async () => {
    const an = await portal.customer()
    const one = await receiver()
    one.answer = (_call, response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write('\0đ'.repeat(2000)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    const { id } = await addressOf(an, one.url)
    const shown = await settledAs(an, id, await tryOut(an, id), 'delivered')
    expect(shown.answer?.length).toBeGreaterThan(300)
    expect(shown.answer?.length).toBeLessThanOrEqual(1024)
  })

  test('by its silence delays nobody else, and is left alone for a while', async () => {
    const [an, other] = [await portal.customer(), await portal.customer()]
    const [silent, quick] = [await receiver(), await receiver()]
    silent.answer = () => undefined
    const { id } = await addressOf(an, silent.url)
    const waiting: string[] = []
    for (let n = 0; n < 12; n++) waiting.push(await tryOut(an, id))
    await eventually('it is called', async () => silent.calls.length > 0)
    const { id: quickId } = await addressOf(other, quick.url)
    await settledAs(other, quickId, await tryOut(other, quickId), 'delivered')
    // The silent call still waits.
    expect((await page(an, id)).deliveries.flatMap(({ attempts }) => attempts)).toEqual([])
    // One call at a time, however many deliveries wait.
    expect(silent.calls).toHaveLength(1)
    const first = await eventually('the call is over', async () =>
      (await page(an, id)).deliveries.find(({ attempts }) => attempts.length > 0),
    )
    expect(first.attempts[0]).toMatchObject({ status: null, error: 'timeout' })
    expect(first.attempts[0]?.ms).toBeGreaterThanOrEqual(3_900)
    expect(first.attempts[0]?.ms).toBeLessThan(9_000)
    // The others are put off, and none has lost a try.
    const { deliveries } = await page(an, id)
    const others = deliveries.filter((one) => one.id !== first.id)
    expect(others.every(({ attempts }) => attempts.length === 0)).toBe(true)
    expect(others.every(({ nextAt }) => nextAt !== null && new Date(nextAt) > clock.now())).toBe(
      true,
    )
    expect(waiting).toHaveLength(12)
  }, 60_000)
})

test('ten silent receivers of one customer keep two workers, and nobody else waiting', async () => {
  const [an, other] = [await portal.customer(), await portal.customer()]
  const [silent, quick] = [await receiver(), await receiver()]
  let [open, most] = [0, 0]
  silent.answer = (_call, response) => {
    open += 1
    most = Math.max(most, open)
    response.on('close', () => (open -= 1))
  }
  const ids: string[] = []
  for (let n = 0; n < 10; n++) ids.push((await addressOf(an, silent.url)).id)
  for (const each of ids) await tryOut(an, each)
  await eventually('two are called', async () => silent.calls.length === 2)
  const { id } = await addressOf(other, quick.url)
  await settledAs(other, id, await tryOut(other, id), 'delivered')
  expect(silent.calls).toHaveLength(2)
  // The next have their turn when these are over.
  await eventually('four were called', async () => silent.calls.length >= 4)
  expect(most).toBe(2)
}, 60_000)
