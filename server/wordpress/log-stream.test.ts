import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import type { LogLine } from './driver.ts'
import { FileLog } from './drivers/machine/site-log.ts'
import { frameLine } from './log-stream.ts'

let now = new Date()
let portal: TestPortal
let an: TestCustomer
let id: string
const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-log-'))
/** The runtime's own log of a site; the tests write the containers' lines. */
const logs = new Map<string, FileLog>()
const logOf = (site: string): FileLog => {
  const log = logs.get(site) ?? new FileLog(path.join(folder, site))
  logs.set(site, log)
  return log
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
const place = async (customer: TestCustomer): Promise<string> =>
  (await portal.call<{ id: string }>('POST', '/api/wp', { token: customer.token, body: order }))
    .body.result.id
beforeAll(async () => {
  portal = await openTestPortal({
    clock: { now: () => now },
    changeDrivers: (drivers) => ({ ...drivers, wordpress: { ...drivers.wordpress, log: logOf } }),
  })
  an = await portal.customer()
  id = await place(an)
})
afterAll(async () => {
  await portal.close()
  for (const log of logs.values()) await log.discard()
  rmSync(folder, { recursive: true, force: true })
})

const ticket = async (): Promise<string> =>
  (await portal.call<string>('GET', `/api/wp/${id}/log`, { token: an.token })).body.result
/** Opens the stream: answers its lines as they come, or the status of the refusal. */
async function open(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ socket: WebSocket; lines: string[] } | number> {
  const socket = new WebSocket(url, { headers })
  const lines: string[] = []
  socket.on('message', (data) => lines.push((data as Buffer).toString('utf8')))
  return await new Promise((resolve, reject) => {
    socket.once('open', () => resolve({ socket, lines }))
    socket.once('unexpected-response', (_request, answer) => resolve(answer.statusCode ?? 0))
    socket.once('error', reject)
  })
}
const opened = async (url: string, headers?: Record<string, string>) => {
  const stream = await open(url, headers)
  if (typeof stream === 'number') throw new Error(`refused with ${stream}`)
  return stream
}

describe('the ticket', () => {
  test('opens the stream once', async () => {
    const url = await ticket()
    expect(url).toMatch(
      new RegExp(`^ws://127\\.0\\.0\\.1:\\d+/api/wp/${id}/log/stream\\?ticket=[\\w-]{32}$`),
    )
    const { socket } = await opened(url)
    expect(await open(url)).toBe(403)
    socket.close()
  })

  test('opened ten times at once lets one in', async () => {
    const url = await ticket()
    const tries = await Promise.all(Array.from({ length: 10 }, () => open(url)))
    expect(tries.filter((one) => one === 403)).toHaveLength(9)
    for (const one of tries) if (typeof one !== 'number') one.socket.close()
  })

  test('is good for a minute', async () => {
    const [early, late] = [await ticket(), await ticket()]
    now = new Date(now.getTime() + 59_000)
    ;(await opened(early)).socket.close()
    now = new Date(now.getTime() + 1_000)
    expect(await open(late)).toBe(403)
  })

  test('ends with its session, and so does what it opened', async () => {
    const signedIn = await portal.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/auth/login',
      {
        body: { email: an.email, password: an.password },
      },
    )
    const token = signedIn.body.result.token.accessToken
    const mine = await opened(await ticket())
    const [url, unused] = await Promise.all(
      [1, 2].map(
        async () => (await portal.call<string>('GET', `/api/wp/${id}/log`, { token })).body.result,
      ),
    )
    const { socket } = await opened(url ?? '')
    const closed = once(socket, 'close')
    const begun = performance.now()
    await portal.call('POST', '/api/v1/auth/logout', { token })
    expect((await closed)[0]).toBe(4401)
    expect(performance.now() - begun).toBeLessThan(5000)
    expect(await open(unused ?? '')).toBe(403)
    expect(mine.socket.readyState).toBe(WebSocket.OPEN)
    mine.socket.close()
  })

  test("opens its own server's log and no other", async () => {
    const other = await place(an)
    expect(await open((await ticket()).replace(id, other))).toBe(403)
  })

  test('is refused to a page of another origin, and does not burn then', async () => {
    const url = await ticket()
    for (const origin of ['https://evil.example', 'null', `${portal.url}.evil.example`])
      expect(await open(url, { origin })).toBe(403)
    ;(await opened(url, { origin: portal.url })).socket.close()
  })

  test('opens from a page at another name of this machine', async () => {
    ;(
      await opened(await ticket(), { origin: portal.url.replace('127.0.0.1', 'localhost') })
    ).socket.close()
    expect(await open(await ticket(), { origin: 'http://localhost:1' })).toBe(403)
  })

  test.each(['', '?ticket=', '?ticket=%00', `?ticket=${'x'.repeat(3000)}`])(
    '%j is none',
    async (query) => {
      expect(
        await open(`${portal.url.replace('http', 'ws')}/api/wp/${id}/log/stream${query}`),
      ).toBe(403)
    },
  )

  test('is given to the owner only', async () => {
    const binh = await portal.customer()
    expect((await portal.call('GET', `/api/wp/${id}/log`, { token: binh.token })).status).toBe(404)
    expect((await portal.call('GET', `/api/wp/${id}/log`)).status).toBe(401)
  })
})

describe('the stream', () => {
  test('of a server that has said nothing yet begins with its first line', async () => {
    const { socket, lines } = await opened(await ticket())
    logOf(id).add('web-1', 'first')
    await eventually('the line', async () => lines.length === 1)
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z web-1 - - first$/)
    socket.close()
  })

  test('sends the last 200 lines and goes on with the live ones, in order', async () => {
    for (let n = 1; n <= 300; n++) logOf(id).add('web-1', `line ${n}`)
    const { socket, lines } = await opened(await ticket())
    await eventually('the backlog', async () => lines.length === 200)
    logOf(id).add('web-2', 'live')
    await eventually('the live line', async () =>
      lines.some((line) => line.endsWith(' web-2 - - live')),
    )
    expect(lines.map((line) => line.split('- -').at(-1)?.trim())).toEqual([
      ...Array.from({ length: 200 }, (_, n) => `line ${n + 101}`),
      'live',
    ])
    socket.close()
  })

  test.each([
    ['a - - b', 'a -  - b'],
    ['- -', '-  -'],
    ['- - - -', '-  -  -  -'],
    ['a -- b', 'a -- b'],
  ])('writes %j so that splitting on the separator keeps the line', (text, shown) => {
    const framed = frameLine({ seq: 1, at: new Date(0), container: 'web-1', text })
    expect(framed).toBe(`1970-01-01T00:00:00.000Z web-1 - - ${shown}`)
    expect(framed.split('- -').slice(1)).toEqual([` ${shown}`])
  })

  test(
    'tells a slow reader how many lines it missed, and makes nobody wait',
    { timeout: 60_000 },
    async () => {
      const slow = await opened(await ticket())
      const fast = await opened(await ticket())
      await eventually('the backlog', async () => slow.lines.length > 0 && fast.lines.length > 0)
      const before = fast.lines.length
      slow.lines.length = 0
      slow.socket.pause()
      const total = 30_000
      const text = 'x'.repeat(900)
      for (let n = 0; n < total; n++) {
        logOf(id).add('web-1', `${n} ${text}`)
        // Lets the portal's other work run in between, as with real containers.
        if (n % 100 === 99) await new Promise((resolve) => setImmediate(resolve))
      }
      await eventually('the fast reader having the last line', async () =>
        fast.lines.at(-1)?.includes(` ${total - 1} x`),
      )
      const skipsOf = (lines: readonly string[]) =>
        lines.flatMap((line) => /^\S+ portal - - \((\d+) lines skipped\)$/.exec(line)?.[1] ?? [])
      const fastSkipped = skipsOf(fast.lines.slice(before)).reduce(
        (sum, count) => sum + Number(count),
        0,
      )
      slow.socket.resume()
      await eventually('the slow reader having the last line', async () =>
        slow.lines.at(-1)?.includes(` ${total - 1} x`),
      )
      const skips = skipsOf(slow.lines)
      const skipped = skips.reduce((sum, count) => sum + Number(count), 0)
      expect(skipped).toBeGreaterThan(0)
      // Every lost line is reported, and the slow reader lost more.
      expect(slow.lines.length - skips.length + skipped).toBe(total)
      expect(skipped).toBeGreaterThan(fastSkipped)
      slow.socket.close()
      fast.socket.close()
    },
  )

  test('goes on over what was taken over from another machine, and says of no gap', async () => {
    const moved = await place(an)
    const [old, other] = [new FileLog(path.join(folder, 'old')), logOf(moved)]
    for (let n = 1; n <= 3; n++) old.add('web-1', `there ${n}`)
    await other.takeOver(await old.tail(10))
    const url = await portal.call<string>('GET', `/api/wp/${moved}/log`, { token: an.token })
    const { socket, lines } = await opened(url.body.result)
    await eventually('the lines of the other machine', async () => lines.length === 3)
    for (const text of ['here 1', 'here 2']) {
      other.add('web-1', text)
      await eventually(text, async () => lines.at(-1)?.endsWith(` - - ${text}`))
    }
    expect(lines.map((line) => line.split(' - - ')[1])).toEqual([
      'there 1',
      'there 2',
      'there 3',
      'here 1',
      'here 2',
    ])
    socket.close()
    // A log that is read again from its files, and taken over once more, counts the same.
    await Promise.all([old.flush(), other.flush()])
    const again = new FileLog(path.join(folder, moved))
    const [lastThere, firstHere] = (await again.tail(3)) as [LogLine, LogLine]
    expect(firstHere.seq - lastThere.seq - (firstHere.leftOut ?? 0)).toBe(1)
    const third = new FileLog(path.join(folder, 'third'))
    await third.takeOver(await again.tail(10))
    third.add('web-1', 'third')
    const [last] = (await third.after(firstHere.seq + 1, 5)) as [LogLine]
    expect(last).toMatchObject({ text: 'third' })
    expect(last.seq - (last.leftOut ?? 0)).toBe(6)
    await Promise.all([old.discard(), third.discard(), again.discard()])
  })

  test('ends with the portal saying why', async () => {
    const { socket } = await opened(await ticket())
    const closed = once(socket, 'close')
    await portal.reopen()
    expect((await closed)[0]).toBe(1012)
  })

  test('is not for others who knock', async () => {
    const { port } = new URL(portal.url)
    const socket = net.connect(Number(port), '127.0.0.1')
    socket.write(
      `GET /api/wp/${id}/log/stream?ticket=x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n` +
        'Upgrade: h2c\r\n\r\n',
    )
    const [first] = (await once(socket, 'data')) as [Buffer]
    expect(first.toString()).toMatch(/^HTTP\/1\.1 4\d\d /)
    socket.destroy()
  })
})
