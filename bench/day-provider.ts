/**
 * A small provider on the morning of an operator's day: customers with servers, money and tickets,
 * and the problems of the night. All of it was made by the portal's own calls.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { days, minutes, type Clock } from '../server/platform/clock.ts'
import { migrate } from '../server/platform/db.ts'
import { DriverFailure } from '../server/platform/errors.ts'
import { startEmbeddedPostgres } from '../server/platform/postgres/index.ts'
import type { WordpressFiles } from '../server/wordpress/drivers/index.ts'
import type { TestDatabase } from '../test/database.ts'
import { orderServer, type OrderedServer } from '../test/ordered-servers.ts'
import { openOtherNode, withSitesAddress } from '../test/other-node.ts'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../test/portal.ts'
import { simulatedWordpress } from '../test/simulated-wordpress.ts'
import { newMember, type TestMember } from '../test/staff.ts'
import { troubleOf, type Trouble } from './day-trouble.ts'

const root = path.resolve(import.meta.dirname, '..')
const shipped = readFileSync(path.join(root, 'catalog.yaml'), 'utf8')

/** Faults outside of the portal, which are repaired before some tasks. */
export interface Outside {
  /** Addresses whose mailbox is full. */
  readonly fullMailboxes: Set<string>
  /** True: disks of the data centre do not answer. */
  disksAway: boolean
  /** True: Stripe's list of pay-outs is unreadable. */
  payoutsUnreadable: boolean
}

export interface Person extends TestCustomer {
  readonly name: string
}
const people = {
  hoa: ['Nguyễn Thị Hoa', 'hoa.nguyen@tiemhoa-hanoi.vn'],
  minh: ['Trần Văn Minh', 'minh.tran@xecu.vn'],
  lan: ['Lê Thị Lan', 'lan.le@thoitrang-lan.vn'],
  tuan: ['Phạm Anh Tuấn', 'tuan.pham@kientruc-ta.vn'],
  mai: ['Võ Thị Mai', 'mai.vo@banhmai.vn'],
  dung: ['Đặng Quốc Dũng', 'dung.dang@noithat-dung.vn'],
  huong: ['Bùi Thu Hương', 'huong.bui@yoga-huong.vn'],
  khanh: ['Đỗ Gia Khánh', 'khanh.do@giakhanh.vn'],
  son: ['Hoàng Ngọc Sơn', 'son.hoang@sonmoc.vn'],
  phuc: ['Ngô Hữu Phúc', 'phuc.ngo@phucgym.vn'],
  thao: ['Dương Phương Thảo', 'thao.duong@thaohandmade.vn'],
  quang: ['Lý Minh Quang', 'quang.ly@quang-photo.vn'],
  yen: ['Phan Hải Yến', 'yen.phan@haiyen-spa.vn'],
} as const
export type Who = keyof typeof people

/** The members of the staff, by their tasks. */
const staff = {
  owner: ['owner', 'Trịnh Quốc Bảo', 'bao@letspanel.example'],
  finance: ['finance', 'Vũ Thanh Hà', 'ha@letspanel.example'],
  secondFinance: ['finance', 'Cao Thị Ngân', 'ngan@letspanel.example'],
  support: ['support', 'Đinh Thuỳ Linh', 'linh@letspanel.example'],
  operations: ['operations', 'Mai Đức Long', 'long@letspanel.example'],
} as const
export type Role = keyof typeof staff

export interface Provider {
  readonly portal: TestPortal
  readonly outside: Outside
  readonly customers: Readonly<Record<Who, Person>>
  /** A customer abroad, with a linked card. */
  readonly emma: Person
  readonly staff: Readonly<Record<Role, TestMember>>
  readonly servers: Readonly<Record<'hoa' | 'mai' | 'quang', OrderedServer>>
  readonly trouble: Trouble
  close(): Promise<void>
}

/** Drivers for third parties, which fail as `outside` says and otherwise work. */
function driversFor(outside: Outside) {
  return (drivers: TestPortal['drivers']): TestPortal['drivers'] => {
    const stripe = drivers.payments.get('stripe')
    return {
      ...drivers,
      mailer: {
        ...drivers.mailer,
        async send(letter) {
          if (outside.fullMailboxes.has(letter.to))
            throw new DriverFailure('unavailable', `452 4.2.2 mailbox of ${letter.to} is full`)
          await drivers.mailer.send(letter)
        },
      },
      wordpress: {
        ...drivers.wordpress,
        async install(site, admin) {
          if (outside.disksAway)
            throw new DriverFailure('unavailable', 'the storage of this data centre is away')
          await drivers.wordpress.install(site, admin)
        },
      },
      payments: new Map([
        ...drivers.payments,
        ...(stripe
          ? [
              [
                'stripe',
                {
                  ...stripe,
                  async payouts(since: Date) {
                    if (outside.payoutsUnreadable)
                      throw new SyntaxError('Unexpected token <, "<html>503" is not valid JSON')
                    return (await stripe.payouts?.(since)) ?? []
                  },
                },
              ] as const,
            ]
          : []),
      ]),
    }
  }
}

/**
 * Opens the provider in a folder and on a database of its own; both are removed when it is closed.
 */
export async function openProvider(): Promise<Provider> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-day-'))
  // As root the database runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o755)
  const files = simulatedWordpress(folder)
  const cluster = await startEmbeddedPostgres({ folder: path.join(folder, 'database') })
  const drop = async (): Promise<void> => {
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    return await fill({ url: cluster.url, drop }, files)
  } catch (error) {
    await drop()
    throw error
  }
}

async function fill(database: TestDatabase, files: WordpressFiles): Promise<Provider> {
  await migrate(database.url)
  const outside: Outside = {
    fullMailboxes: new Set(),
    disksAway: false,
    payoutsUnreadable: false,
  }
  let passedMs = days(-6)
  const clock: Clock = { now: () => new Date(Date.now() + passedMs) }
  const portal = await openTestPortal({
    database,
    wordpress: files,
    env: await withSitesAddress(),
    catalogText: shipped,
    clock,
    changeDrivers: driversFor(outside),
  })

  const made = new Map<string, Person>()
  for (const [who, [name, email]] of Object.entries(people))
    made.set(who, { name, ...(await portal.customer({ name, email })) })
  const personOf = (who: Who): Person => made.get(who) as Person
  // A letter from six days ago was not delivered; it was retried for five days.
  const yen = personOf('yen')
  outside.fullMailboxes.add(yen.email)
  await portal.call('PUT', '/api/v1/account/password', {
    token: yen.token,
    body: { current: yen.password, password: 'Another-horse-7' },
  })
  passedMs = minutes(0)
  for (const [who, person] of made) {
    const password = who === 'yen' ? 'Another-horse-7' : person.password
    made.set(who, { ...person, ...(await portal.signIn({ ...person, password })) })
  }
  const customers = Object.fromEntries(made) as Record<Who, Person>
  const emma = {
    name: 'Emma Nguyen',
    ...(await portal.customer({
      region: 'AUD',
      name: 'Emma Nguyen',
      email: 'emma@sydney-florist.example',
    })),
  }
  const members = new Map<string, TestMember>()
  for (const [who, [role, name, email]] of Object.entries(staff))
    members.set(who, await newMember(portal, role, { name, email }))

  for (const person of Object.values(customers)) await portal.topUp(person, 1_500_000)
  await portal.topUp(customers.hoa, 300_000, 'insufficient')
  await portal.topUp(customers.khanh, 700_000)
  const [hoa, mai, quang] = await Promise.all(
    [customers.hoa, customers.mai, customers.quang].map((person) => orderServer(portal, person)),
  )
  if (!hoa || !mai || !quang) throw new Error('no server runs')
  const team = Object.fromEntries(members) as Record<Role, TestMember>
  const trouble = await troubleOf({ portal, outside, customers, emma, staff: team, server: hoa })
  await eventually(
    'the undelivered letter is given up',
    async () => {
      const letters = await team.support.call<{ to: string }[]>(
        'GET',
        '/api/operator/letters?state=failed',
      )
      return letters.body.result.some(({ to }) => to === yen.email)
    },
    120,
  )
  // A second machine joins last, so that earlier orders are on the first one.
  const other = await openOtherNode(portal, 'hn2', files)
  return {
    portal,
    outside,
    customers,
    emma,
    staff: team,
    servers: { hoa, mai, quang },
    trouble,
    async close() {
      await other.close()
      await portal.close()
    },
  }
}
