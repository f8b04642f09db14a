import { expect, test } from 'vitest'
import type { Record } from '../../contract/dns.ts'
import { applyChanges, chosen, sorted } from './record-list.ts'

const record = (id: string, over: Partial<Record> = {}): Record => ({
  id,
  name: 'www',
  type: 'A',
  data: ['203.0.113.7'],
  ttl: 300,
  proxied: false,
  priority: null,
  version: 1,
  ...over,
})

test('a copy takes what is new in front, what changed in place, and drops what is gone', () => {
  const [a, b, c] = [record('a'), record('b'), record('c')]
  const later = { ...b, ttl: 60, version: 2 }
  const fresh = record('d')
  expect(
    applyChanges(
      { serial: 1, records: [c, b, a] },
      { serial: 4, data: [fresh, later], gone: ['c', 'never seen'] },
    ),
  ).toEqual({
    serial: 4,
    records: [fresh, later, a],
  })
  expect(
    applyChanges({ serial: 1, records: [a] }, { serial: 9, data: null, gone: [] }),
  ).toBeUndefined()
})

test('records are found by full names and by the letters that A-labels stand for', () => {
  const records = [
    record('a'),
    record('b', { name: 'xn--c-ph-0na7d' }),
    record('c', { type: 'MX', name: '@', data: ['mail.xn--ph-rbt.example'] }),
  ]
  const found = (search: string) =>
    chosen(records, 'xn--bnh-m-xqa5f.vn', undefined, search).map(({ id }) => id)
  expect(found('www.bánh-mì.vn')).toEqual(['a'])
  expect(found('www.xn--bnh')).toEqual(['a'])
  expect(found(' CÀ-PHÊ.bánh')).toEqual(['b'])
  expect(found('bánh-mì'.normalize('NFD'))).toEqual(['a', 'b', 'c'])
  expect(found('mail.phở')).toEqual(['c'])
  expect(found('nothing')).toEqual([])
})

test('by name the domain comes first, then what is below; numbers go by value', () => {
  const names = [
    '@',
    '*',
    'a',
    'www.a',
    'a-b',
    'host',
    'host1',
    'host01',
    'host2',
    'host10',
    'host10.b',
    'zz',
  ]
  const order = (by: readonly string[]) =>
    sorted(
      by.map((name) => record(name, { name })),
      { by: 'name', descending: false },
    ).map(({ name }) => name)
  const expected = [
    '@',
    '*',
    'a',
    'www.a',
    'a-b',
    'host10.b',
    'host',
    'host01',
    'host1',
    'host2',
    'host10',
    'zz',
  ]
  expect(order(names)).toEqual(expected)
  expect(order(names.toReversed())).toEqual(expected)
})

test('ten thousand records are brought up to date, sorted and searched in a blink', () => {
  const records = Array.from({ length: 10_000 }, (_, n) => record(String(n), { name: `h${n}` }))
  const began = performance.now()
  const now = applyChanges(
    { serial: 1, records },
    { serial: 2, data: [record('5000', { name: 'changed' })], gone: ['1'] },
  )
  const shown = sorted(chosen(now?.records ?? [], 'example.vn', 'A', 'h9'), {
    by: 'name',
    descending: false,
  })
  expect(shown).toHaveLength(1111)
  expect(performance.now() - began).toBeLessThan(1000)
})
