/**
 * Servers of customers and the names that they are given, as a customer at a screen and an owner of
 * a domain at his DNS do it.
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
/** A name that nobody has yet. */
export const fresh = (): string => `shop${++names}.example.org`

/**
 * What is done with servers at a portal, and with names in a DNS; both are there by the time it is
 * done.
 */
export function namedServersOf(portal: () => TestPortal, dns: () => TestDns) {
  /** An ordered server; it needs no money to be given a name. */
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
