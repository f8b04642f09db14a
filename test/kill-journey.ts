/**
 * A customer who registers, tops up and orders at a portal that is killed meanwhile, and records
 * everything that was acknowledged.
 */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { expect } from 'vitest'
import { eventually } from './portal.ts'
import type { PortalProcess } from './portal-process.ts'

export type Outcome = 'paid' | 'late' | 'lost'
interface Answer {
  readonly status: number
  readonly body: { message: string; result: Record<string, unknown>; error?: { code: string } }
}

/** An acknowledgement of the portal, which must stay true for ever. */
export interface Fact {
  readonly what: string
  readonly holds: () => Promise<void>
  /**
   * True: the check waits for a site to boot. It is made for the newest sites after each start, and
   * for all at the end.
   */
  readonly slow?: boolean
}

export interface Customer {
  readonly email: string
  readonly phone: string
  readonly facts: Fact[]
  readonly payments: { readonly code: string; readonly amount: number; readonly createdAt: Date }[]
  readonly orders: string[]
  token: string
}

const password = 'Correct-horse-9'
/** BASIC-1, 10 GB, one container: 89 000 + 40 000 + 89 000. */
export const price = 218_000
const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'chu-nha',
  password: 'Mat-khau-9!',
  replicate: 1,
}

/** Repeats a call until its answer is no failure of the portal, which may be dead for a while. */
export async function untilAnswered(
  portal: PortalProcess,
  method: string,
  address: string,
  of: { body?: unknown; token?: string; key?: string } = {},
): Promise<Answer> {
  const deadline = Date.now() + 120_000
  for (;;) {
    try {
      const answer = await fetch(`${portal.url}${address}`, {
        method,
        signal: AbortSignal.timeout(15_000),
        headers: {
          ...(of.body !== undefined && { 'content-type': 'application/json' }),
          ...(of.token !== undefined && { authorization: `Bearer ${of.token}` }),
          ...(of.key !== undefined && { 'idempotency-key': of.key }),
        },
        ...(of.body !== undefined && { body: JSON.stringify(of.body) }),
      })
      const body = (await answer.json()) as Answer['body']
      if (answer.status < 500 && body.error?.code !== 'idempotency_in_progress')
        return { status: answer.status, body }
    } catch {
      // Killed during the call: nothing was acknowledged.
    }
    if (portal.fell !== undefined) throw new Error(portal.fell)
    if (Date.now() > deadline) throw new Error(`${method} ${address} was never answered`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Repeats the call, across kills, until the response is accepted. */
const until = <T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  seconds = 120,
): Promise<T> =>
  eventually(
    what,
    () =>
      ask().catch((error: unknown) => {
        if (String(error).includes('the portal ended')) throw error
        return undefined
      }),
    seconds,
  )

export async function register(portal: PortalProcess, number: number): Promise<Customer> {
  const customer: Customer = {
    email: `kill${number}@example.vn`,
    phone: `+8491${String(number).padStart(7, '0')}`,
    facts: [],
    payments: [],
    orders: [],
    token: '',
  }
  const { email, phone } = customer
  const signIn = () =>
    untilAnswered(portal, 'POST', '/api/v1/auth/login', { body: { email, password } })
  /**
   * Ends the session it opens: beyond twenty the oldest session ends, which is the customer's own.
   */
  const mayEnter = async (): Promise<number> => {
    const { status, body } = await signIn()
    const { accessToken } = (body.result as { token?: { accessToken: string } } | null)?.token ?? {}
    if (accessToken !== undefined)
      await untilAnswered(portal, 'POST', '/api/v1/auth/logout', { token: accessToken })
    return status
  }
  const registered = await untilAnswered(portal, 'POST', '/api/v1/auth/register', {
    key: randomUUID(),
    body: { name: 'Nguyễn Văn An', email, phone, password, region_code: 'VN' },
  })
  expect(registered.status).toBe(201)
  customer.facts.push({
    what: `${email} is registered`,
    holds: async () => expect([200, 403]).toContain(await mayEnter()),
  })
  await until('activation', async () => {
    const inbox = (await (
      await fetch(`${portal.sandboxUrl}/inbox.json?to=${encodeURIComponent(phone)}`)
    ).json()) as { text: string }[]
    const code = /\b\d{6}\b/.exec(inbox[0]?.text ?? '')?.[0]
    if (code === undefined) return false
    const { status } = await untilAnswered(portal, 'POST', '/api/v1/auth/active', {
      key: randomUUID(),
      body: { email, code },
    })
    return status === 200 || (await signIn()).status === 200
  })
  customer.facts.push({
    what: `${email} is active`,
    holds: async () => expect(await mayEnter()).toBe(200),
  })
  const signedIn = await signIn()
  customer.token = (signedIn.body.result['token'] as { accessToken: string }).accessToken
  const { token } = customer
  customer.facts.push({
    what: `${email} is signed in`,
    holds: async () =>
      expect((await untilAnswered(portal, 'GET', '/api/v1/auth/me', { token })).status).toBe(200),
  })
  return customer
}

/** Begins a top-up and pays it on VNPay's page. */
export async function topUp(
  portal: PortalProcess,
  customer: Customer,
  amount: number,
  outcome: Outcome,
): Promise<string> {
  const { token } = customer
  const begun = await untilAnswered(portal, 'POST', '/api/payments/checkout', {
    token,
    key: randomUUID(),
    body: { amount, type: 1, method: 'QRPAY' },
  })
  expect(begun.status).toBe(200)
  const code = String(begun.body.result['transactionCode'])
  const read = () =>
    untilAnswered(portal, 'GET', `/api/payments/get-transaction?transactionCode=${code}`, { token })
  const { createdAt } = (await read()).body.result
  customer.payments.push({ code, amount, createdAt: new Date(String(createdAt)) })
  customer.facts.push({
    what: `payment ${code} is known`,
    holds: async () =>
      expect((await read()).body.result).toMatchObject({ transactionCode: code, amount }),
  })
  await until('paying', async () => {
    const page = await fetch(String(begun.body.result['checkoutUrl']), { redirect: 'manual' })
    // The choice was already made by a click whose answer was lost in a kill.
    if (page.status === 303) return true
    const form = /name="token" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
    const chosen = await fetch(`${portal.sandboxUrl}/vnpay/paymentv2/Transaction/Confirm.html`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ token: form, outcome }),
    })
    return chosen.status === 303
  })
  return code
}

/** Waits until the portal reports the money in the wallet. */
export async function credited(
  portal: PortalProcess,
  customer: Customer,
  code: string,
): Promise<void> {
  const read = () =>
    untilAnswered(portal, 'GET', `/api/payments/get-transaction?transactionCode=${code}`, {
      token: customer.token,
    })
  await until(
    `the credit of ${code}`,
    async () => (await read()).body.result['status'] === 'succeeded',
  )
  customer.facts.push({
    what: `payment ${code} is credited`,
    holds: async () => expect((await read()).body.result['status']).toBe('succeeded'),
  })
}

export async function placeOrder(portal: PortalProcess, customer: Customer): Promise<string> {
  const { token } = customer
  const placed = await untilAnswered(portal, 'POST', '/api/wp', {
    token,
    key: randomUUID(),
    body: order,
  })
  expect(placed.status).toBe(201)
  const id = String(placed.body.result['id'])
  customer.orders.push(id)
  portal.sites.add(id)
  customer.facts.push({
    what: `order ${id} stands`,
    holds: async () =>
      expect(
        (await untilAnswered(portal, 'GET', `/api/wp/${id}`, { token })).body.result,
      ).toMatchObject({
        id,
        price,
        configs: { region: { id: 1 } },
      }),
  })
  return id
}

/** Waits until the order runs or is given up; returns which. */
export async function settled(
  portal: PortalProcess,
  customer: Customer,
  id: string,
): Promise<string> {
  const read = async () =>
    (await untilAnswered(portal, 'GET', `/api/wp/${id}`, { token: customer.token })).body.result
  const status = await until(`the end of order ${id}`, async () => {
    const now = String((await read())['status'])
    return (now === 'running' || now === 'failed') && now
  })
  customer.facts.push({
    what: `order ${id} is ${status}`,
    holds: async () => expect((await read())['status']).toBe(status),
  })
  if (status === 'running') {
    const host = String((await read())['domain'])
    customer.facts.push({
      what: `${host} answers`,
      slow: true,
      holds: () =>
        until(
          `${host} answering`,
          async () => (await statusOn(portal.sitesPort, host)) === 200,
          180,
        ).then(() => undefined),
    })
  }
  return status
}

const statusOn = (port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    http
      .get(
        { host: '127.0.0.1', port, headers: { host }, agent: false, timeout: 20_000 },
        (answer) => {
          answer.resume()
          resolve(answer.statusCode ?? 0)
        },
      )
      .on('error', reject)
  })
