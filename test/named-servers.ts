/**
 * Servers of customers and their names, with the actions of a customer at a screen and of a
 * domain's owner at the DNS.
 */
import type { TestDns } from './dns-server.ts'
import type { TestCustomer, TestPortal } from './portal.ts'

export interface Server {
  id: string
  name: string
  token: string
}

const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
let names = 0
/** A new name. */
export const fresh = (): string => `shop${++names}.example.org`

/**
 * Actions on servers at a portal, and on names in a DNS. Both must exist when the functions are
 * called.
 */
export function namedServersOf(portal: () => TestPortal, dns: () => TestDns) {
  /** An ordered server; it can be given a name without being paid. */
  async function server(customer?: TestCustomer): Promise<Server> {
    const { token } = customer ?? (await portal().customer())
    const { id } = (await portal().call<{ id: string }>('POST', '/api/wp', { token, body: order }))
      .body.result
    const { name } = (await portal().call<{ name: string }>('GET', `/api/wp/${id}`, { token })).body
      .result
    return { id, name, token }
  }
  const put = ({ id, name, token }: Server, domains: readonly unknown[]) =>
    portal().call<{ domains: string[] }>('PUT', `/api/wp/${id}/domain`, {
      token,
      body: { id, name, domains },
    })
  const point = (name: string, to: Server): Map<string, readonly string[]> =>
    dns().records.set(`CNAME ${name}`, [`${to.name}.sites.example.net`])
  const signIn = async ({ email, password }: TestCustomer): Promise<string> =>
    (
      await portal().call<{ token: { accessToken: string } }>('POST', '/api/v1/auth/login', {
        body: { email, password },
      })
    ).body.result.token.accessToken

  return { server, put, point, signIn }
}
