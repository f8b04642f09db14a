/**
 * The catalogue as a test reads, changes and publishes it at the desk, and as customers order from
 * it.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type * as z from 'zod/mini'
import type { ActOutcome } from '../contract/operator-acts.ts'
import type { catalog, CatalogPreview, Selling } from '../contract/operator-catalog.ts'
import type { Answer, TestCustomer, TestPortal } from './portal.ts'
import type { TestMember } from './staff.ts'

type AtDesk = z.output<typeof catalog.result>
export const shipped = readFileSync(path.resolve(import.meta.dirname, '../catalog.yaml'), 'utf8')
export const reason = 'Energy costs more from spring on'

/** An order of the first plan. */
export const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
export const done = (answer: Answer<ActOutcome>): ActOutcome => {
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.result.state, answer.text).toBe('done')
  return answer.body.result
}
export const change = (name: string, field: string, before: string, after: string) => ({
  of: 'plan',
  name,
  field,
  currency: 'VND',
  before,
  after,
})

/**
 * Acts by `owner` unless another member is given. Portal and owner must exist when the functions
 * are called.
 */
export function sellingAt(portal: () => TestPortal, owner: () => TestMember) {
  async function atDesk(by: TestMember = owner()): Promise<AtDesk> {
    const shown = await by.call<AtDesk>('GET', '/api/operator/catalog')
    expect(shown.status, shown.text).toBe(200)
    return shown.body.result
  }
  const preview = (wanted: object, by: TestMember = owner()) =>
    by.call<CatalogPreview>('POST', '/api/operator/catalog/preview', wanted)
  const publish = (wanted: object, by: TestMember = owner()) =>
    by.act<ActOutcome>('catalog.publish', { reason, ...wanted })
  /** The present catalogue with changed prices of a plan. */
  async function priced(
    plan: number,
    prices: Partial<Selling['plans'][number]['prices']>,
  ): Promise<{ base: number; selling: Selling }> {
    const { version, selling } = await atDesk()
    const plans = selling.plans.map((one) =>
      one.id === plan ? { ...one, prices: { ...one.prices, ...prices } } : one,
    )
    return { base: version, selling: { ...selling, plans } }
  }
  /** The monthly price of a new order. */
  async function ordered({ id, token }: TestCustomer, size = 1): Promise<number> {
    const body = { ...order, size }
    const placed = await portal().call<{ id: string }>('POST', '/api/wp', { token, body })
    expect(placed.status, placed.text).toBeLessThan(300)
    const { amount } = await portal()
      .app.db.selectFrom('invoice_line as l')
      .innerJoin('invoice as i', 'i.id', 'l.invoice_id')
      .select('l.amount')
      .where('i.customer_id', '=', id)
      .orderBy('i.seq', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    return Number(amount)
  }
  return { atDesk, preview, publish, priced, ordered }
}
