/**
 * Another size, number of containers or name: an increase is charged by the second before it acts,
 * a decrease waits for the renewal. Real sites.
 */
import http from 'node:http'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { monthlyPrice, shareOf } from '../../contract/pricing.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { days } from '../platform/clock.ts'

const clock = manualClock()
const sites = 'sites.example.net'
const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'chu nha',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const topUp = 5_000_000
let portal: TestPortal
/** A fixed figure, independent of the memory of the machine that runs the test. */
let room = 40
let askRoom = async (): Promise<number> => room
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    env: { SITES_DOMAIN: sites },
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: { ...drivers.wordpress, room: () => askRoom() },
    }),
  })
})
afterAll(() => portal.close())

interface Shown {
  id: string
  name: string
  status: string
  size: number
  ram: number
  disk: number
  mariadb_disk_size: number
  replicate: number
  price: number
  planned: { size: number; replicate: number } | null
  subscriptionId: string
}
const visit = (host: string, path: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    http
      .request(
        {
          host: '127.0.0.1',
          port: portal.config.SITES_PORT,
          path,
          headers: { host },
          agent: false,
        },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          )
        },
      )
      .on('error', reject)
      .end()
  })

/** A customer who stays signed in while the test's clock is moved. */
class Owner {
  readonly customer: TestCustomer
  id = ''
  #token: string
  constructor(customer: TestCustomer) {
    this.customer = customer
    this.#token = customer.token
  }
  async signIn(): Promise<void> {
    const { email, password } = this.customer
    this.#token = (
      await portal.call<{ token: { accessToken: string } }>('POST', '/api/v1/auth/login', {
        body: { email, password },
      })
    ).body.result.token.accessToken
  }
  call<T = Shown>(method: string, path: string, body?: object, language = 'en') {
    return portal.call<T>(method, path, {
      token: this.#token,
      ...(body && { body }),
      headers: { 'accept-language': language },
    })
  }
  async site(): Promise<Shown> {
    return (await this.call('GET', `/api/wp/${this.id}`)).body.result
  }
  disk(body: object, language?: string) {
    return this.call(
      'PUT',
      `/api/wp/${this.id}/disk`,
      { disk: 10_240, mariadb_disk_size: 10_240, ...body },
      language,
    )
  }
  plan(body: object) {
    return this.call('PUT', `/api/wp/${this.id}`, body)
  }
  async balance(): Promise<number> {
    return Number((await portal.app.ledger.balanceOf(portal.app.db, this.customer.id)).balance)
  }
  async lines(): Promise<{ kind: string; status: string; total: number }[]> {
    return (
      await this.call<{ kind: string; status: string; total: number }[]>(
        'GET',
        '/api/payments/stripe/invoices',
      )
    ).body.result.map(({ kind, status, total }) => ({ kind, status, total }))
  }
}
async function running(money = topUp): Promise<Owner> {
  const owner = new Owner(await portal.customer())
  await portal.topUp(owner.customer, money)
  await eventually('the money', async () => (await owner.balance()) === money)
  owner.id = (await owner.call<{ id: string }>('POST', '/api/wp', order)).body.result.id
  await eventually('the server running', async () => (await owner.site()).status === 'running', 90)
  return owner
}
/** The price of a month by the specification's formula; plan prices are the catalogue's, in VND. */
const planPrices = [89_000, 149_000]
const monthly = (plan: number, diskGb: number, containers: number): bigint =>
  BigInt(
    monthlyPrice({
      plan: { price: planPrices[plan - 1] ?? 0, sale_price: 0 },
      diskMb: diskGb * 1024,
      mariadbDiskMb: 10_240,
      containers,
      ssdRate: { perGb: 4000 },
      mariadbRate: { perGb: 0 },
    }).total,
  )
/** The difference of two prices for the rest of the running month. */
async function restOf(owner: Owner, from: bigint, to: bigint): Promise<number> {
  const { subscriptionId } = await owner.site()
  const { periodStart, periodEnd } = (
    await owner.call<{ periodStart: string; periodEnd: string }>(
      'GET',
      `/api/subscriptions/${subscriptionId}`,
    )
  ).body.result
  const secondsTo = (since: number): number => Math.floor((Date.parse(periodEnd) - since) / 1000)
  const [left, month] = [secondsTo(clock.now().getTime()), secondsTo(Date.parse(periodStart))]
  return Number(shareOf(to, left, month) - shareOf(from, left, month))
}

test('a plan is not taken at another price than the one that was shown', async () => {
  const an = await running()
  const before = await an.lines()
  const refused = await an.plan({ size: 2, price: 139_000 })
  expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict'])
  expect(refused.body.message).toContain('149.000')
  expect(await an.lines()).toEqual(before)
  expect((await an.plan({ size: 2, price: 149_000 })).status).toBe(200)
})

test('a wallet that is short changes nothing', { timeout: 120_000 }, async () => {
  const an = await running(Number(monthly(1, 10, 1)) + 100)
  const before = await an.lines()
  for (const ask of [
    () => an.disk({ disk: 200_000 }),
    () => an.disk({ replicate: 3 }),
    () => an.plan({ size: 2 }),
  ]) {
    const answer = await ask()
    expect([answer.status, answer.body.error?.code]).toEqual([422, 'insufficient_balance'])
  }
  expect(await an.site()).toMatchObject({ disk: 10_240, replicate: 1, size: 1, planned: null })
  expect(await an.lines()).toEqual(before)
  expect(await an.balance()).toBe(100)
})

test('two names asked for at once: one server has it', { timeout: 120_000 }, async () => {
  const [an, binh] = await Promise.all([running(), running()])
  const answers = await Promise.all([
    an.plan({ name: 'cung-mot-ten' }),
    binh.plan({ name: 'cung-mot-ten' }),
  ])
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422])
})

describe('a running server', { timeout: 120_000 }, () => {
  let an: Owner
  beforeAll(async () => {
    an = await running()
    clock.advance(days(10) + 12_345_678)
    await an.signIn()
  }, 120_000)

  test('has its disk grown for the rest of the month, by the second, once', async () => {
    const before = await an.balance()
    const body = { disk: 20_480, mariadb_disk_size: 20_480 }
    const answer = await an.disk(body)
    expect(answer.body.result).toMatchObject({
      disk: 20_480,
      mariadb_disk_size: 20_480,
      price: Number(monthly(1, 20, 1)),
      planned: null,
    })
    expect(before - (await an.balance())).toBe(
      await restOf(an, monthly(1, 10, 1), monthly(1, 20, 1)),
    )
    expect((await an.lines())[0]).toMatchObject({ kind: 'proration', status: 'paid' })
    // The same change again does nothing.
    const after = await an.balance()
    expect((await an.disk(body)).status).toBe(200)
    expect(await an.balance()).toBe(after)
    await portal.ledgerHolds()
  })

  test('never has a disk shrunk, or below 10 GB', async () => {
    // A disk that is left out stays as it is.
    const alone = await an.call('PUT', `/api/wp/${an.id}/disk`, { mariadb_disk_size: 20_480 })
    expect([alone.status, alone.body.result]).toMatchObject([
      200,
      { disk: 20_480, mariadb_disk_size: 20_480 },
    ])
    for (const body of [{ disk: 10_240, mariadb_disk_size: 20_480 }, { disk: 20_480 }]) {
      const answer = await an.disk(body)
      expect([answer.status, answer.body.error?.code]).toEqual([422, 'disk_shrink'])
    }
    const small = await an.disk({ disk: 10_239 }, 'vi')
    expect([small.status, small.body.error?.fields]).toEqual([
      422,
      { disk: 'Dung lượng ổ cứng tối thiếu là 10GB!' },
    ])
    expect((await an.disk({ disk: 200_001, mariadb_disk_size: 20_480 })).status).toBe(422)
  })

  test('gets more containers at once, and fewer with the renewal', async () => {
    const before = await an.balance()
    const disks = { disk: 20_480, mariadb_disk_size: 20_480 }
    expect((await an.disk({ ...disks, replicate: 2 })).body.result).toMatchObject({
      replicate: 2,
      planned: null,
    })
    expect(before - (await an.balance())).toBe(
      await restOf(an, monthly(1, 20, 1), monthly(1, 20, 2)),
    )
    await eventually(
      'two containers',
      async () => (await portal.drivers.wordpress.addresses(an.id)).length === 2,
      60,
    )
    const less = await an.disk({ ...disks, replicate: 1 })
    expect(less.body.result).toMatchObject({
      replicate: 2,
      planned: { size: 1, replicate: 1 },
      price: Number(monthly(1, 20, 2)),
    })
    // The planned change is withdrawn.
    expect((await an.disk({ ...disks, replicate: 2 })).body.result.planned).toBeNull()
    expect((await an.disk({ ...disks, replicate: 1 })).body.result.planned).toMatchObject({
      size: 1,
      replicate: 1,
    })
    const many = await an.disk({ ...disks, replicate: 50 })
    expect([many.status, many.body.error?.fields]).toEqual([
      422,
      { replicate: 'This data centre has no room for that many containers at the moment.' },
    ])
  })

  test('is not locked while the runtime thinks about its room', async () => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    askRoom = async () => {
      asked.resolve()
      await answered.promise
      return room
    }
    const looking = portal.app.nodes.look()
    try {
      await asked.promise
      // The node's last stored answer decides, without a wait.
      const answer = await an.call('PUT', `/api/wp/${an.id}/disk`, { replicate: 50 })
      expect(answer.body.error?.fields).toHaveProperty('replicate')
      const lock = sql`select id from site where id = ${an.id} for update nowait`
      expect((await lock.execute(portal.app.db)).rows).toHaveLength(1)
    } finally {
      askRoom = async () => room
      answered.resolve()
      await looking
    }
  })

  test('takes a bigger plan without a failed request, and keeps what is planned', async () => {
    const { name } = await an.site()
    const answers: number[] = []
    let changing = true
    const visitor = (async () => {
      while (changing) answers.push((await visit(`${name}.${sites}`, '/wp-login.php')).status)
    })()
    const memory = async (): Promise<number> =>
      (
        await portal.app.db
          .selectFrom('site')
          .select('ram_mb')
          .where('id', '=', an.id)
          .executeTakeFirstOrThrow()
      ).ram_mb
    const before = [await memory(), await portal.drivers.wordpress.addresses(an.id)] as const
    expect((await an.plan({ size: 2 })).body.result).toMatchObject({
      size: 2,
      replicate: 2,
      planned: { size: 2, replicate: 1 },
    })
    expect(await memory()).toBeGreaterThan(before[0])
    await eventually(
      'both containers being new',
      async () => {
        const ports = new Set(before[1].map(({ port }) => port))
        const now = await portal.drivers.wordpress.addresses(an.id)
        return now.length === 2 && now.every(({ port }) => !ports.has(port))
      },
      60,
    )
    changing = false
    await visitor
    expect(answers.length).toBeGreaterThan(0)
    expect(answers.filter((status) => status !== 200)).toEqual([])
    const unknown = await an.plan({ size: 99 })
    expect([unknown.status, Object.keys(unknown.body.error?.fields ?? {})]).toEqual([422, ['size']])
  })

  test('takes a smaller plan with the renewal, which costs less', async () => {
    const before = await an.balance()
    expect((await an.plan({ size: 1 })).body.result).toMatchObject({
      size: 2,
      planned: { size: 1, replicate: 1 },
    })
    expect(await an.balance()).toBe(before)
    clock.advance(days(21))
    await portal.app.bills.enqueueSweeps()
    await eventually('the renewal', async () => (await an.balance()) !== before, 60)
    expect(before - (await an.balance())).toBe(Number(monthly(1, 20, 1)))
    await an.signIn()
    await eventually('the smaller plan', async () => (await an.site()).planned === null)
    expect(await an.site()).toMatchObject({
      size: 1,
      replicate: 1,
      disk: 20_480,
      price: Number(monthly(1, 20, 1)),
    })
    await eventually(
      'one container',
      async () => (await portal.drivers.wordpress.addresses(an.id)).length === 1,
      60,
    )
    await portal.ledgerHolds()
  })

  test('pays for fewer containers and keeps its plan, even one that is sold no more', async () => {
    const binh = await running()
    const more = { disk: 10_240, mariadb_disk_size: 10_240 }
    expect((await binh.disk({ ...more, replicate: 2 })).status).toBe(200)
    expect((await binh.disk({ ...more, replicate: 1 })).body.result.planned).toEqual({
      size: 1,
      replicate: 1,
      plan: 'BASIC-1',
    })
    const cuong = await running()
    expect((await cuong.plan({ size: 2 })).status).toBe(200)
    expect((await cuong.plan({ size: 1 })).body.result.planned).toMatchObject({ size: 1 })
    const { subscriptionId } = await binh.site()
    await portal.reopen({
      changeCatalog: (catalog) => ({
        ...catalog,
        plans: catalog.plans.filter(({ id }) => id !== 1),
      }),
    })
    const grown = await binh.disk({ disk: 20_480, mariadb_disk_size: 10_240 })
    expect(grown.body.result).toMatchObject({
      disk: 20_480,
      replicate: 2,
      planned: { size: 1, replicate: 1 },
    })
    // A planned plan that is no longer in the catalogue blocks no other change.
    expect((await cuong.disk({ disk: 20_480 })).body.result).toMatchObject({
      size: 2,
      disk: 20_480,
      planned: null,
    })
    const before = await binh.balance()
    const shown = await binh.call<{ renewalPrice: number }>(
      'GET',
      `/api/subscriptions/${subscriptionId}`,
    )
    expect(shown.body.result.renewalPrice).toBe(Number(monthly(1, 20, 1)))
    clock.advance(days(31))
    await portal.app.bills.enqueueSweeps()
    await eventually('the renewal', async () => (await binh.balance()) !== before, 60)
    expect(before - (await binh.balance())).toBe(Number(monthly(1, 20, 1)))
    await binh.signIn()
    await eventually('fewer containers', async () => (await binh.site()).planned === null)
    expect(await binh.site()).toMatchObject({
      size: 1,
      replicate: 1,
      price: Number(monthly(1, 20, 1)),
    })
    await portal.ledgerHolds()
    await portal.reopen()
    await an.signIn()
  })

  test('renews with the plan that was planned, also where it is not sold any more', async () => {
    const binh = await running()
    expect((await binh.plan({ size: 2 })).status).toBe(200)
    expect((await binh.plan({ size: 1 })).body.result.planned).toMatchObject({ size: 1 })
    await portal.reopen({
      changeCatalog: (catalog) => ({
        ...catalog,
        plans: catalog.plans.map((plan) => {
          const prices = { ...plan.prices, VND: { ...plan.prices.VND, price: 999_000 } }
          return plan.id === 1 ? { ...plan, sold: false, prices } : plan
        }),
      }),
    })
    const planned = { size: 1, replicate: 1, plan: 'BASIC-1' }
    expect(await binh.site()).toMatchObject({ size: 2, planned })
    const { subscriptionId } = await binh.site()
    const shown = await binh.call<{ renewalPrice: number; priceRise: object | null }>(
      'GET',
      `/api/subscriptions/${subscriptionId}`,
    )
    expect(shown.body.result).toMatchObject({
      renewalPrice: Number(monthly(1, 10, 1)),
      priceRise: null,
    })
    const before = await binh.balance()
    clock.advance(days(31))
    await portal.app.bills.enqueueSweeps()
    await eventually('the renewal', async () => (await binh.balance()) !== before, 60)
    expect(before - (await binh.balance())).toBe(Number(monthly(1, 10, 1)))
    await binh.signIn()
    await eventually('the smaller plan', async () => (await binh.site()).planned === null)
    expect(await binh.site()).toMatchObject({ size: 1, price: Number(monthly(1, 10, 1)) })
    await portal.ledgerHolds()
    await portal.reopen()
    await an.signIn()
  })

  test('is called otherwise, and goes on answering on the name that it had', async () => {
    const { name: old } = await an.site()
    const name = `tiem-banh-${an.id.slice(0, 4)}`
    expect((await an.plan({ name })).body.result).toMatchObject({
      name,
      domain: `${name}.${sites}`,
    })
    const front = await eventually('the new name', async () => {
      const page = await visit(`${name}.${sites}`, '/')
      return page.status === 200 && page
    })
    expect(front.text).toContain(`http://${name}.${sites}/`)
    expect((await visit(`${old}.${sites}`, '/')).status).toBe(200)
    const binh = new Owner(await portal.customer())
    binh.id = (await binh.call<{ id: string }>('POST', '/api/wp', order)).body.result.id
    expect((await binh.plan({ name: 'x' })).status).toBe(422)
    expect((await binh.plan({ name: 'quan-com' })).body.error?.code).toBe('server_not_running')
    for (const wrong of [
      'Shop',
      'a',
      '-shop',
      'shop-',
      'xn--shop',
      'a.b',
      'www',
      'shop_1',
      'login',
      'secure-shop',
      'shop-billing',
      'lets-panel-help',
    ]) {
      const answer = await an.plan({ name: wrong })
      expect([answer.status, Object.keys(answer.body.error?.fields ?? {})], wrong).toEqual([
        422,
        ['name'],
      ])
    }
    const { body } = await an.call<{ next: { wp: { name: string } | null }[] }>(
      'GET',
      '/api/wallet/runway',
    )
    expect(body.result.next[0]?.wp?.name).toBe(name)
    // Renamed back, nothing of the other name is left.
    expect((await an.plan({ name: old })).body.result.name).toBe(old)
  })

  test(
    'keeps the last ten of the names that it had; older ones are free again',
    { timeout: 120_000 },
    async () => {
      const { name: first } = await an.site()
      const later = Array.from({ length: 11 }, (_, n) => `ten-thu-${n + 1}-${an.id.slice(0, 4)}`)
      for (const name of later) expect((await an.plan({ name })).status).toBe(200)
      const [second = ''] = later
      const binh = await running()
      expect((await binh.plan({ name: second })).status).toBe(422)
      expect((await binh.plan({ name: first })).body.result.name).toBe(first)
      await eventually('each on its own names', async () => {
        const [theirs, ours] = await Promise.all([
          visit(`${first}.${sites}`, '/'),
          visit(`${second}.${sites}`, '/'),
        ])
        return (
          theirs.text.includes(`http://${first}.${sites}/`) &&
          ours.text.includes(`http://${second}.${sites}/`)
        )
      })
      const kept = await portal.app.db
        .selectFrom('host')
        .select('name')
        .where('site_id', '=', an.id)
        .where('kind', '=', 'former')
        .execute()
      expect(kept.map(({ name }) => name).toSorted()).toEqual(later.slice(0, -1).toSorted())
    },
  )

  test('belongs to one server, also when another asks for it while it is let go of', async () => {
    const binh = await running()
    for (let round = 0; round < 12; round++) {
      const { name: left } = await an.site()
      const [away, taking] = await Promise.all([
        an.plan({ name: `race-${round}-${an.id.slice(0, 4)}` }),
        binh.plan({ name: left }),
      ])
      expect([away.status, taking.status]).toEqual([200, 422])
    }
  })

  test('is changed by its owner alone', async () => {
    const binh = new Owner(await portal.customer())
    binh.id = an.id
    expect([(await binh.disk({})).status, (await binh.plan({ size: 2 })).status]).toEqual([
      404, 404,
    ])
  })
})
