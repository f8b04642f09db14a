/** The name server over a line passes the same conformance suite as in this process. */
import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { dig } from '../../../../test/dig.ts'
import { freePort } from '../../../../test/portal.ts'
import { lineThrough } from '../../../sites-line.ts'
import { conformance } from '../conformance.ts'
import { createEmbedded } from '../embedded/index.ts'
import { connectNameServer, serveNameServer } from './index.ts'

const onFault = (error: unknown): never => {
  throw error
}

function lines() {
  const { port1, port2 } = new MessageChannel()
  const [near, far] = [lineThrough(port1), lineThrough(port2)]
  return { near, far, hangUp: () => port1.close() }
}

conformance('remote', async () => {
  const port = await freePort()
  const embedded = createEmbedded({ host: '127.0.0.1', port, transferTo: [], onFault })
  await embedded.start()
  const { near, far, hangUp } = lines()
  serveNameServer(far, embedded)
  far.listen()
  near.listen()
  return {
    driver: connectNameServer(near),
    settlesMs: 200,
    ownNameServers: true,
    async ask(name, type) {
      const { rcode, answer } = await dig(port, { name, type, tcp: true })
      const told = answer.filter(
        (line) => line.startsWith(`${name} `) && line.split(' ')[2] === type,
      )
      return {
        rcode,
        values: told.map((line) => line.split(' ').slice(3).join(' ')),
        ttlSeconds: told[0] === undefined ? undefined : Number(told[0].split(' ')[1]),
      }
    },
    async dispose() {
      hangUp()
      await embedded.close()
    },
  }
})

test('a process that is gone is told as unavailable', async () => {
  const { near, hangUp } = lines()
  near.listen()
  const driver = connectNameServer(near)
  const asked = driver.held('example.vn')
  hangUp()
  await expect(asked).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(driver.removeZone('example.vn')).rejects.toMatchObject({ kind: 'unavailable' })
})
