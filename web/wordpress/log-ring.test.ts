import { afterEach, expect, test } from 'vitest'
import { followTimeZone } from '../time-zone.ts'
import {
  blocksOf,
  LogRing,
  parseMessage,
  shownSource,
  socketAddress,
  withoutTicket,
} from './log-ring.ts'

afterEach(() => followTimeZone(null))

test('the line is what stands after the separator', () => {
  expect(parseMessage('2026-11-21T05:00:00Z shop-1 - - GET /san-pham 200')).toEqual({
    source: '2026-11-21T05:00:00Z shop-1',
    text: 'GET /san-pham 200',
  })
})
test('a separator that the server widened stays in the line', () =>
  expect(parseMessage('t c - - a -  - b').text).toBe('a -  - b'))
test('a message without a separator is all line', () =>
  expect(parseMessage('plain')).toEqual({ source: '', text: 'plain' }))
test("a line's time is shown in the customer's zone, also once that is another", () => {
  const source = '2026-11-21T20:00:07.123Z shop-1'
  followTimeZone('Asia/Ho_Chi_Minh')
  expect(shownSource(source)).toBe('2026-11-22 03:00:07 shop-1')
  expect(shownSource('2026-11-21T20:00:08.001Z shop-1')).toBe('2026-11-22 03:00:08 shop-1')
  followTimeZone('Australia/Sydney')
  expect(shownSource('2026-11-21T20:00:08.900Z shop-2')).toBe('2026-11-22 07:00:08 shop-2')
})
test('what is no time of the server stays as it came', () =>
  expect(['', 't c', '2026-11-21 20:00', 'plain'].map(shownSource)).toEqual([
    '',
    't c',
    '2026-11-21 20:00',
    'plain',
  ]))
test('the ring keeps the newest, and their numbers', () => {
  const ring = new LogRing(3)
  ring.push(['t c - - 1', 't c - - 2'])
  ring.push(['t c - - 3', 't c - - 4', 't c - - 5'])
  expect(ring.lines.map((line) => [line.number, line.text])).toEqual([
    [2, '3'],
    [3, '4'],
    [4, '5'],
  ])
  expect(ring.dropped).toBe(2)
})
test('numbers go on after the ring was cleared, and what was cleared is not dropped', () => {
  const ring = new LogRing(3)
  ring.push(['t c - - 1', 't c - - 2'])
  ring.clear()
  expect([ring.lines.length, ring.dropped]).toEqual([0, 0])
  ring.push(['t c - - 3'])
  expect(ring.lines.map((line) => line.number)).toEqual([2])
  expect(ring.dropped).toBe(0)
})
test('a ticket is never shown', () => {
  expect(withoutTicket('ws://127.0.0.1:8080/logs/1?ticket=secret#x')).toBe(
    'ws://127.0.0.1:8080/logs/1',
  )
  expect(withoutTicket('no url?ticket=secret')).toBe('no url')
})
test('blocks are cut by number, so that they keep their lines while the ring moves', () => {
  const ring = new LogRing(150)
  ring.push(Array.from({ length: 250 }, (_, index) => `t c - - ${index}`))
  expect(blocksOf(ring.lines).map((block) => [block.key, block.lines.length])).toEqual([
    [1, 100],
    [2, 50],
  ])
})

test("the log is fetched by the page's name, where both mean this machine", () => {
  const given = 'ws://127.0.0.1:8080/logs/7?ticket=t'
  expect(socketAddress(given, 'http://localhost:8080/wordpress/7')).toBe(
    'ws://localhost:8080/logs/7?ticket=t',
  )
  expect(socketAddress(given, 'http://127.0.0.1:8080/')).toBe(given)
  expect(socketAddress(given, 'http://localhost:5173/')).toBe(given)
  expect(socketAddress('ws://logs.example/7', 'https://portal.example/')).toBe(
    'wss://logs.example/7',
  )
  expect(socketAddress('http://logs.example/7', 'http://localhost/')).toBe('ws://logs.example/7')
})
