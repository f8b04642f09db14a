/** Data centres as rows of the capacity page. */
import { expect, test } from 'vitest'
import { pooled } from './pooled.ts'

const node = (id: string, regions: string[] | null, state: 'active' | 'draining' = 'active') => ({
  id,
  regions,
  state,
  seenSecondsAgo: 1,
  servers: 0,
  kept: 0,
  room: 10,
  reserved: 0,
  free: 10,
})
const centre = (name: string, sharedWith: string[], free: number, ordered = 1) => ({
  name,
  sharedWith,
  free,
  ordered,
  soldOutOn: null,
})

test('those of the same nodes are one row, with what was ordered in all of them', () => {
  const dataCentres = [centre('A', ['B'], 10), centre('B', ['A'], 10, 2)]
  const [row, ...more] = pooled({ nodes: [node('n1', null)], dataCentres })
  expect(more).toEqual([])
  expect(row).toMatchObject({
    name: 'A, B',
    free: 10,
    ordered: 3,
    sharedWith: [],
    isTogether: true,
  })
})

test('those that share a node and have others stay apart, and so do those without any', () => {
  const nodes = [
    node('n1', ['A']),
    node('n2', ['A', 'B']),
    node('n3', ['B']),
    node('n4', ['C', 'D'], 'draining'),
  ]
  const dataCentres = [
    centre('A', ['B'], 20),
    centre('B', ['A'], 20),
    centre('C', [], 0),
    centre('D', [], 0),
  ]
  const rows = pooled({ nodes, dataCentres })
  expect(rows.map(({ name, sharedWith, isServed }) => [name, sharedWith, isServed])).toEqual([
    ['A', ['B'], true],
    ['B', ['A'], true],
    ['C', [], false],
    ['D', [], false],
  ])
})
