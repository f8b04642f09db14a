/** Announced uploads and the room that they take from others. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { orderServer } from '../../test/ordered-servers.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

async function server(): Promise<{ owner: TestCustomer; id: string }> {
  const owner = await portal.customer()
  await portal.topUp(owner, 500_000)
  return { owner, id: (await orderServer(portal, owner)).id }
}
const begin = ({ owner, id }: { owner: TestCustomer; id: string }) =>
  portal.call<{ id: string }>('POST', `/api/wp/${id}/import`, {
    token: owner.token,
    body: { files: [{ name: 'site.zip', bytes: 1000 }] },
  })

test('who announces more than there is room for keeps nobody else out', async () => {
  const [idle, other] = [await server(), await server()]
  const begun = await begin(idle)
  expect(begun.status, begun.text).toBe(201)
  await portal.app.db
    .updateTable('site_import')
    .set({ total_bytes: 1n << 50n })
    .where('id', '=', begun.body.result.id)
    .execute()
  const mine = await begin(other)
  expect(mine.status, mine.text).toBe(201)
})
