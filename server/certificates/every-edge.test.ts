import { expect, test } from 'vitest'
import { everyEdge } from './every-edge.ts'
import type { CertificateEdge } from './feed.ts'

const challenge = { token: 't', host: 'shop.example.vn', answer: 't.x' }
const edge = (told: string[], isLost = false): CertificateEdge => ({
  compare: async () => [],
  put: async () => undefined,
  async challenge({ token }) {
    if (isLost) throw new Error('the edge is not there')
    told.push(token)
  },
  async dropChallenge(token) {
    if (isLost) throw new Error('the edge is not there')
    told.push(`no ${token}`)
  },
})

test('a node that is lost keeps no other from answering an authority', async () => {
  const [one, two]: [string[], string[]] = [[], []]
  const all = everyEdge(() => [edge([], true), edge(one), edge(two)])
  await all.challenge(challenge)
  await all.dropChallenge('t')
  expect([one, two]).toEqual([
    ['t', 'no t'],
    ['t', 'no t'],
  ])
})

test('where no edge takes it the order fails, and is tried again', async () => {
  const all = everyEdge(() => [edge([], true), edge([], true)])
  await expect(all.challenge(challenge)).rejects.toThrow('the edge is not there')
})
