/** A certificate's life: it is renewed before it ends, and replaced when it is revoked. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openHttpsWorld, type HttpsServer, type HttpsWorld } from '../../test/https-world.ts'
import { eventually, manualClock } from '../../test/portal.ts'
import { days, hours } from '../platform/clock.ts'

const clock = manualClock()
let world: HttpsWorld
let server: HttpsServer
beforeAll(async () => {
  world = await openHttpsWorld({
    clock,
    env: { ACME_CERTIFICATES_A_WEEK: '1000' },
    timing: { certificates: { callMs: 400, orderMs: 1_200 } },
  })
  server = await world.server()
})
afterAll(async () => await world.close())
beforeEach(async () => {
  for (const id of ['first', 'second'] as const)
    await world.behave(id, { mode: 'well', perDomain: 1000, badNonces: 0, slowMs: 30_000 })
})

/** Handles what is due now, as the job does every minute. */
const look = (): Promise<void> => world.portal.app.tls.due()
const issuedFor = async (id: 'first' | 'second', name: string) =>
  (await world.behave(id)).issued.filter(({ names }) => names.includes(name))
const row = (name: string) =>
  world.portal.app.db
    .selectFrom('certificate')
    .selectAll()
    .where('name', '=', name)
    .executeTakeFirst()
/** Advances the clock; the owner signs in again. */
const wait = async (ms: number): Promise<void> => {
  clock.advance(ms)
  server = await world.signIn(server)
}
/** The serial number that visitors of the name are shown. */
const served = async (name: string): Promise<string> => {
  const socket = await world.handshake(name)
  const { serialNumber } = socket.getPeerX509Certificate() ?? { serialNumber: '' }
  socket.destroy()
  return serialNumber
}
const isServed = (name: string): Promise<boolean> =>
  served(name).then(
    () => true,
    () => false,
  )

describe('a certificate', () => {
  test('that its authority revokes is replaced within a day', async () => {
    const name = await world.named(server)
    await world.settled(server, name, 'issued')
    await eventually('HTTPS', () => isServed(name))
    const serial = await served(name)
    await world.revoke('first', name)
    await wait(hours(25))
    await look()
    await eventually('the new one', async () => (await served(name)) !== serial)
  })

  test('is renewed at two thirds of its life, with a key of its own', async () => {
    const name = await world.named(server)
    await world.settled(server, name, 'issued')
    await eventually('HTTPS', () => isServed(name))
    const [serial, before] = [await served(name), await row(name)]
    const lifeMs = (before?.not_after?.getTime() ?? 0) - (before?.not_before?.getTime() ?? 0)
    const due = ((before?.renew_at?.getTime() ?? 0) - (before?.not_before?.getTime() ?? 0)) / lifeMs
    expect(due).toBeGreaterThan(0.65)
    expect(due).toBeLessThanOrEqual(2 / 3)
    await wait(days(50))
    await look()
    expect((await row(name))?.version).toBe(1n)
    await wait(days(10))
    await look()
    await eventually('the new one', async () => (await served(name)) !== serial)
    const after = await row(name)
    expect([
      after?.version,
      after?.key_sealed?.equals(before?.key_sealed ?? Buffer.alloc(0)),
    ]).toEqual([2n, false])
    // The order names the certificate that it replaces, so the authority does not count it.
    expect((await issuedFor('first', name))[0]?.replaces).toMatch(/^[\w-]+\.[\w-]+$/)
  })

  test('whose renewal fails stays in use, and says why and until when', async () => {
    const name = await world.named(server)
    await world.settled(server, name, 'issued')
    await eventually('HTTPS', () => isServed(name))
    for (const id of ['first', 'second'] as const) await world.behave(id, { mode: 'refuses' })
    // The authority's clock is so far behind ours that a new certificate is renewed hours later
    // (renew.ts).
    await wait(hours(7))
    await look()
    const shown = await world.certificate(server, name)
    expect([shown?.state, shown?.problem?.code]).toEqual(['issued', 'refused'])
    expect(await isServed(name)).toBe(true)
  })

  test('whose renewal fails for long is told to its owner, once each time', async () => {
    const name = await world.named(server)
    await world.settled(server, name, 'issued')
    for (const id of ['first', 'second'] as const) await world.behave(id, { mode: 'refuses' })
    const { not_before: from, not_after: until } = (await row(name))!
    const life = until!.getTime() - from!.getTime()
    /** Sets the dates so that this share of its life is left now. */
    const left = async (share: number): Promise<void> => {
      const end = clock.now().getTime() + share * life
      await world.portal.app.db
        .updateTable('certificate')
        .set({
          not_before: new Date(end - life),
          not_after: new Date(end),
          renew_at: clock.now(),
          next_at: clock.now(),
        })
        .where('name', '=', name)
        .execute()
      await look()
      await look()
    }
    const told = async (): Promise<string[]> =>
      (
        await world.portal.app.db
          .selectFrom('message')
          .select('subject')
          .where('subject', 'like', `${name}:%`)
          .execute()
      )
        .map(({ subject }) => (subject ?? '').replace(/\d{4}-\d\d-\d\d/, 'DAY'))
        .toSorted()
    await left(0.3)
    expect(await told()).toEqual([])
    await left(0.2)
    await left(0.15)
    expect(await told()).toEqual([`${name}: HTTPS sẽ hết hạn ngày DAY`])
    await left(0.05)
    await left(-0.01)
    await left(-0.02)
    expect(await told()).toEqual([
      `${name}: HTTPS sẽ hết hạn ngày DAY`,
      `${name}: HTTPS sẽ hết hạn ngày DAY`,
      `${name}: chứng chỉ đã hết hạn`,
    ])
    for (const id of ['first', 'second'] as const) await world.behave(id, { mode: 'well' })
    await left(0.2)
    expect((await row(name))?.warned).toBe(0)
  })
})
