import { expect, test } from 'vitest'
import { addressOf, afterClose, gapMs, pingFrame, read, subscribeFrame } from './protocol.ts'

test('the address names protocol 7, with and without TLS', () => {
  const place = { key: 'a/b', wsHost: 'portal.example', wsPort: 8080, forceTLS: false }
  expect(addressOf(place)).toBe(
    'ws://portal.example:8080/app/a%2Fb?protocol=7&client=web&version=1',
  )
  expect(addressOf({ ...place, key: 'k', wsPort: 443, forceTLS: true })).toBe(
    'wss://portal.example:443/app/k?protocol=7&client=web&version=1',
  )
})

test('the greeting gives the socket id and how long silence may last', () => {
  const greeting = (data: object) =>
    read(JSON.stringify({ event: 'pusher:connection_established', data: JSON.stringify(data) }))
  expect(greeting({ socket_id: '1.2', activity_timeout: 30 })).toEqual({
    kind: 'established',
    socketId: '1.2',
    activityMs: 30_000,
  })
  expect(greeting({ socket_id: '1.2' })).toEqual({
    kind: 'established',
    socketId: '1.2',
    activityMs: 120_000,
  })
  expect(greeting({ socket_id: '1.2', activity_timeout: 9999 })).toMatchObject({
    activityMs: 120_000,
  })
  expect(greeting({})).toEqual({ kind: 'noise' })
})

test('events carry their data unpacked', () => {
  expect(read('{"event":"invoice.paid","channel":"private-7","data":"{\\"a\\":1}"}')).toEqual({
    kind: 'event',
    name: 'invoice.paid',
    channel: 'private-7',
    data: { a: 1 },
  })
  expect(read('{"event":"x","data":{"a":1}}')).toMatchObject({ kind: 'event', data: { a: 1 } })
  expect(read('{"event":"x","data":"no json"}')).toMatchObject({ data: 'no json' })
})

test('the words of the protocol are told apart from events', () => {
  expect(
    read('{"event":"pusher_internal:subscription_succeeded","channel":"private-7","data":"{}"}'),
  ).toEqual({
    kind: 'subscribed',
    channel: 'private-7',
  })
  expect(
    read('{"event":"pusher:subscription_error","channel":"private-7","data":{"status":401}}'),
  ).toEqual({
    kind: 'refused',
    channel: 'private-7',
  })
  expect(read('{"event":"pusher:ping","data":"{}"}')).toEqual({ kind: 'ping' })
  expect(read('{"event":"pusher:pong","data":"{}"}')).toEqual({ kind: 'pong' })
  expect(read('{"event":"pusher:error","data":{"code":4001,"message":"no"}}')).toEqual({
    kind: 'error',
    code: 4001,
  })
  expect(read('{"event":"pusher:error","data":{"code":null}}')).toEqual({
    kind: 'error',
    code: undefined,
  })
})

test.each(['', 'no json', '[]', 'null', '{}', '{"event":7}', '{"event":"pusher:tomorrow"}'])(
  '%j is no reason to fall',
  (text) => {
    expect(read(text)).toEqual({ kind: 'noise' })
  },
)

test('close codes decide about coming back', () => {
  expect([4000, 4001, 4099].map(afterClose)).toEqual(['never', 'never', 'never'])
  expect([4100, 4199].map(afterClose)).toEqual(['later', 'later'])
  expect([4200, 4201, 4299].map(afterClose)).toEqual(['now', 'now', 'now'])
  expect([1000, 1001, 1006, 1013, 4300].map(afterClose)).toEqual([
    'later',
    'later',
    'later',
    'later',
    'later',
  ])
})

test('gaps grow to ten seconds, and chance spreads them', () => {
  expect([0, 1, 2, 3, 4, 5, 60].map((failures) => gapMs(failures, 0))).toEqual([
    500, 1000, 2000, 4000, 8000, 10_000, 10_000,
  ])
  expect(gapMs(5, 1)).toBe(5000)
})

test('what we say is JSON with an object for data', () => {
  expect(JSON.parse(pingFrame)).toEqual({ event: 'pusher:ping', data: {} })
  expect(JSON.parse(subscribeFrame('private-7', 'key:sig'))).toEqual({
    event: 'pusher:subscribe',
    data: { channel: 'private-7', auth: 'key:sig' },
  })
})
