/** A plan that no machine can run is said not to be offered, and is not sold. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'

let portal: TestPortal
let an: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal({
    env: { WORDPRESS_MAX_CPU: '4', WORDPRESS_MAX_RAM_MB: '4000' },
  })
  an = await portal.customer()
})
afterAll(() => portal.close())

interface Told {
  readonly wordpress: { maxCpu: number; maxRamMb: number; database: string }
}

test('plans beyond the machine’s processors and memory are not offered, and refused', async () => {
  const { body } = await portal.call<Told>('GET', '/api/config', {})
  expect(body.result.wordpress).toMatchObject({ maxCpu: 4, maxRamMb: 4000, database: 'sqlite' })
  const { token } = an
  const plans = await portal.call<{ name: string; offered: boolean }[]>('GET', '/api/wp/sizes', {
    token,
  })
  expect(plans.body.result).toHaveLength(5)
  const offered = plans.body.result.filter((plan) => plan.offered)
  expect(offered.map(({ name }) => name)).toEqual(['BASIC-1', 'BASIC-2'])
  // PRO-4 fits by its processors but needs too much memory; PRO-16 fits by neither.
  for (const size of [3, 5]) {
    const refused = await portal.call('POST', '/api/wp', {
      token,
      body: {
        size,
        region: 1,
        disk: 10_240,
        mariadb_disk_size: 10_240,
        replicate: 1,
        user: 'chu nha',
        password: 'Mat-khau-9!',
      },
    })
    expect(refused.status).toBe(422)
    expect(refused.body).toMatchObject({
      error: { fields: { size: expect.any(String) as string } },
    })
  }
})
