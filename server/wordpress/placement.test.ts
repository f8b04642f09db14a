import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { freeOn, isLost, lostAfterSeconds, place, type NodeState } from './placement.ts'

const node = (id: string, of: Partial<NodeState> = {}): NodeState => ({
  id,
  regions: null,
  state: 'active',
  seenSecondsAgo: 5,
  room: 10,
  reserved: 0,
  maxContainers: 50,
  minRamMb: 512,
  maxRamMb: null,
  maxCpu: null,
  ...of,
})
const wish = { regionId: 1, containers: 2, ramMb: 1024, cpu: 2 }

describe('a new server', () => {
  test('goes to the node with most room, counting what is promised already', () => {
    const nodes = [node('a', { room: 12, reserved: 6 }), node('b', { room: 8 }), node('c')]
    expect(place(nodes, wish)).toEqual({ node: 'c' })
    expect(place(nodes.slice(0, 2), wish)).toEqual({ node: 'b' })
  })

  test('goes to a node of its data centre', () => {
    const nodes = [node('hn', { regions: [1, 2] }), node('syd', { regions: [4], room: 90 })]
    expect(place(nodes, wish)).toEqual({ node: 'hn' })
    expect(place(nodes, { ...wish, regionId: 4 })).toEqual({ node: 'syd' })
    expect(place(nodes, { ...wish, regionId: 3 })).toEqual({ none: 'region' })
  })

  test('goes to none that is drained, lost, too small or full, and why is said', () => {
    expect(place([node('a', { state: 'draining' })], wish)).toEqual({ none: 'region' })
    expect(place([node('a', { seenSecondsAgo: lostAfterSeconds + 1 })], wish)).toEqual({
      none: 'region',
    })
    expect(place([node('a', { seenSecondsAgo: null })], wish)).toEqual({ none: 'region' })
    expect(place([node('a', { minRamMb: 2048 })], wish)).toEqual({ none: 'size' })
    expect(place([node('a', { maxRamMb: 512 })], wish)).toEqual({ none: 'size' })
    expect(place([node('a', { maxCpu: 1 })], wish)).toEqual({ none: 'size' })
    expect(place([node('a', { maxContainers: 1 })], wish)).toEqual({ none: 'containers' })
    expect(place([node('a', { room: 3, reserved: 2 })], wish)).toEqual({ none: 'full' })
  })
})

const anyNode = fc.record({
  id: fc.stringMatching(/^[a-z]{1,4}$/),
  regions: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 4 })), { nil: null }),
  state: fc.constantFrom('active', 'draining'),
  seenSecondsAgo: fc.option(fc.integer({ min: 0, max: 120 }), { nil: null }),
  room: fc.integer({ min: 0, max: 60 }),
  reserved: fc.integer({ min: 0, max: 60 }),
  maxContainers: fc.integer({ min: 1, max: 50 }),
  minRamMb: fc.constantFrom(512, 1024, 2048),
  maxRamMb: fc.constantFrom(null, 1024, 4096),
  maxCpu: fc.constantFrom(null, 1, 4),
})
const anyWish = fc.record({
  regionId: fc.integer({ min: 1, max: 4 }),
  containers: fc.integer({ min: 1, max: 50 }),
  ramMb: fc.constantFrom(512, 1024, 4096),
  cpu: fc.constantFrom(1, 2, 8),
})

test('whatever nodes there are, the chosen one can take the server and none is emptier', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyNode, { selector: ({ id }) => id }), anyWish, (nodes, wished) => {
      const can = (candidate: NodeState): boolean =>
        candidate.state === 'active' &&
        !isLost(candidate) &&
        (candidate.regions?.includes(wished.regionId) ?? true) &&
        wished.ramMb >= candidate.minRamMb &&
        (candidate.maxRamMb === null || wished.ramMb <= candidate.maxRamMb) &&
        (candidate.maxCpu === null || wished.cpu <= candidate.maxCpu) &&
        wished.containers <= candidate.maxContainers &&
        wished.containers <= freeOn(candidate)
      const placed = place(nodes, wished)
      if ('none' in placed) return !nodes.some(can)
      const chosen = nodes.find(({ id }) => id === placed.node)
      return (
        chosen !== undefined &&
        can(chosen) &&
        nodes.filter(can).every((other) => freeOn(other) <= freeOn(chosen))
      )
    }),
  )
})
