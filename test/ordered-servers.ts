/** Servers that customers of a test portal have ordered and paid. */
import { eventually, type TestCustomer, type TestPortal } from './portal.ts'

/** The smallest order, as the API takes it. */
export const smallestOrder = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}

export interface OrderedServer {
  readonly id: string
  readonly name: string
  /** The host at which it answers, with the port. */
  readonly domain: string
}

/** A running server, paid from the customer's wallet. `changes`: of the order. */
export async function orderServer(
  portal: TestPortal,
  { token }: Pick<TestCustomer, 'token'>,
  changes: Partial<typeof smallestOrder> = {},
): Promise<OrderedServer> {
  const body = { ...smallestOrder, ...changes }
  const placed = await portal.call<{ id: string }>('POST', '/api/wp', { token, body })
  const { id } = placed.body.result
  const isRunning = async () => {
    const shown = await portal.call<OrderedServer & { status: string }>('GET', `/api/wp/${id}`, {
      token,
    })
    const { status, name, domain } = shown.body.result
    return status === 'running' && { id, name, domain }
  }
  // WordPress on PHP is slow while other tests install it as well.
  return await eventually('the server runs', isRunning, 90)
}
