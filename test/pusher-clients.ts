/**
 * The unmodified pusher-js at a test portal, as on customers' screens, and the stored notifications
 * for clients that no push reaches.
 */
import pusherJs, { type Channel } from 'pusher-js'
import type { TestCustomer, TestPortal } from './portal.ts'

type PusherClient = pusherJs.default
/** The node build is CommonJS: the class is the module itself, unlike its types say. */
export const Client = pusherJs as unknown as typeof pusherJs.default

/** A page of notifications. */
export interface Listed {
  data: {
    id: string
    event: string
    title: string
    payload: Record<string, unknown>
    read: boolean
    createdAt: string
  }[]
  unread: number
}

/** The first event of a name; must be bound before its cause. */
export const heard = <T = unknown>(
  on: { bind(event: string, act: (data: T) => void): unknown },
  event: string,
): Promise<T> =>
  Promise.race([
    new Promise<T>((resolve) => void on.bind(event, resolve)),
    new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error(`${event} was not heard`)), 20_000).unref(),
    ),
  ])
export async function joined(of: PusherClient, customer: TestCustomer): Promise<Channel> {
  const channel = of.subscribe(`private-${customer.id}`)
  await heard(channel, 'pusher:subscription_succeeded')
  return channel
}

/** Clients of a portal and its app key. Both must exist when a client connects. */
export function clientsOf(portal: () => TestPortal, key: () => string) {
  const clients: PusherClient[] = []
  function client(token: string, options: object = {}, appKey = key()): PusherClient {
    const made = new Client(appKey, {
      cluster: '',
      wsHost: '127.0.0.1',
      wsPort: portal().config.PORT,
      forceTLS: false,
      enabledTransports: ['ws'],
      enableStats: false,
      channelAuthorization: {
        endpoint: `${portal().url}/api/v1/auth/pusher`,
        transport: 'ajax',
        headers: { Authorization: `Bearer ${token}` },
      },
      ...options,
    })
    clients.push(made)
    return made
  }
  const disconnectAll = (): void => {
    for (const client of clients.splice(0)) client.disconnect()
  }
  const notifications = async (customer: TestCustomer, query = '') =>
    (await portal().call<Listed>('GET', `/api/notifications${query}`, { token: customer.token }))
      .body

  return { client, clients, disconnectAll, notifications }
}
