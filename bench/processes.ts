/**
 * The gain of a second portal process: read calls per second with one and with two, in turns and in
 * one run; and how long an event takes from the process that writes it to another one's socket.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os, { availableParallelism } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pusherJs from 'pusher-js'
import { systemClock } from '../server/platform/clock.ts'
import { connect, transaction } from '../server/platform/db.ts'
import { createLog } from '../server/platform/log.ts'
import { startEmbeddedPostgres } from '../server/platform/postgres/index.ts'
import { createEventOutbox } from '../server/realtime/outbox.ts'
import { createRelay } from '../server/realtime/relay.ts'
import {
  call,
  cpuSecondsOf,
  median,
  report,
  signIn,
  startPortal,
  type BenchPortal,
} from './portal.ts'

const seconds = 5
const rounds = 3
/** Concurrent callers: enough to keep two processes busy. */
const callers = 24
const events = 200

/** The node build is CommonJS: the class is the module itself, unlike its types say. */
const Pusher = pusherJs as unknown as typeof pusherJs.default

/** CPU seconds of all processes with this text in their command line. */
const cpuOf = (text: string): number =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
          ? sum + cpuSecondsOf(Number(pid))
          : sum
      } catch {
        return sum
      }
    }, 0)

/**
 * Calls per second of a signed-in read, and how many cores the portal's processes used meanwhile.
 */
async function readsOf(
  portal: BenchPortal,
  token: string,
): Promise<{ rate: number; cores: number }> {
  let made = 0
  let going = true
  const before = cpuOf('server/api.js')
  const caller = async (): Promise<void> => {
    while (going) {
      await call(portal, 'GET', '/api/wp?limit=1', token)
      made++
    }
  }
  const all = Array.from({ length: callers }, caller)
  await pause(seconds * 1000)
  going = false
  await Promise.all(all)
  return { rate: made / seconds, cores: (cpuOf('server/api.js') - before) / seconds }
}

/** Milliseconds from the commit of an event, here, to the socket of a portal process. */
async function relayTimes(
  portal: BenchPortal,
  token: string,
  databaseUrl: string,
): Promise<number[]> {
  const { realtime } = await call<{ realtime: { key: string } }>(portal, 'GET', '/api/config')
  const { id } = await call<{ id: string }>(portal, 'GET', '/api/v1/auth/me', token)
  const client = new Pusher(realtime.key, {
    cluster: '',
    wsHost: '127.0.0.1',
    wsPort: Number(new URL(portal.url).port),
    forceTLS: false,
    enabledTransports: ['ws'],
    channelAuthorization: {
      endpoint: `${portal.url}/api/v1/auth/pusher`,
      transport: 'ajax',
      headers: { Authorization: `Bearer ${token}` },
    },
  })
  const { db, close } = connect(databaseUrl, 2, () => undefined)
  const relay = createRelay(db, createLog('warn'))
  const outbox = createEventOutbox(systemClock, () => relay.wake())
  relay.start()
  const times: number[] = []
  try {
    const channel = client.subscribe(`private-${id}`)
    await new Promise((resolve) => void channel.bind('pusher:subscription_succeeded', resolve))
    for (let turn = 0; turn < events; turn++) {
      const heard = new Promise<void>((resolve) => {
        channel.bind('wordpress.status', () => {
          channel.unbind('wordpress.status')
          resolve()
        })
      })
      const wp = { id, name: `bench-${turn}`, status: 'running', reason: null }
      await transaction(db, (tx) => outbox.publishEvent(tx, id, 'wordpress.status', { wp }))
      const committedAt = performance.now()
      await heard
      times.push(performance.now() - committedAt)
    }
  } finally {
    client.disconnect()
    await relay.stop()
    await close()
  }
  return times
}

const rates = new Map<number, number[]>()
const cores = new Map<number, number[]>()
for (let round = 0; round < rounds; round++)
  for (const processes of [1, 2]) {
    process.env['PORTAL_PROCESSES'] = String(processes)
    const dataDir = mkdtempSync(path.join(os.tmpdir(), 'portal-processes-'))
    const portal = await startPortal({ dataDir })
    try {
      // Waits until the second process follows the first.
      await pause(5000)
      const token = await signIn(portal)
      await readsOf(portal, token)
      const { rate, cores: had } = await readsOf(portal, token)
      rates.set(processes, [...(rates.get(processes) ?? []), rate])
      cores.set(processes, [...(cores.get(processes) ?? []), had])
      if (round === 0 && processes === 2) {
        const { url } = await startEmbeddedPostgres({ folder: path.join(dataDir, 'postgres') })
        const times = (await relayTimes(portal, token, url)).toSorted((a, b) => a - b)
        report(
          `event to the socket of another process, p99 of ${events}`,
          times[Math.floor(times.length * 0.99)] ?? Number.NaN,
          100,
          'ms',
        )
      }
    } finally {
      await portal.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
for (const processes of [1, 2]) {
  const each = (rates.get(processes) ?? []).map((rate) => rate.toFixed(0)).join(' ')
  const had = median(cores.get(processes) ?? []).toFixed(2)
  console.log(
    `      ${processes} processes: ${each} reads/s, ${had} of ${availableParallelism()} cores`,
  )
}
report(
  'reads with two processes, times those with one',
  median(rates.get(2) ?? []) / median(rates.get(1) ?? []),
  1.6,
  '',
  true,
)
