/**
 * Archives longer than one piece arrive unchanged in both directions: on streams, and over the line
 * to a node of a release without streams. An incomplete one is not used.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  openSecureStream,
  serveSecureLines,
  type SecureLines,
} from '../../../platform/secure-line.ts'
import { lineThrough } from '../../../sites-line.ts'
import { nodeFiles, serveFiles, serveStream } from './files.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-files-'))
const transfer = path.join(folder, 'transfer')
const { port1, port2 } = new MessageChannel()
const [here, node] = [lineThrough(port1), lineThrough(port2)]
const calls: string[] = []
serveFiles(
  new Proxy(node, {
    get: (target, name) =>
      name === 'onRequest'
        ? (method: string, act: (...of: unknown[]) => unknown) =>
            target.onRequest(method, (...of: unknown[]) => {
              calls.push(method)
              return act(...of)
            })
        : Reflect.get(target, name),
  }),
  transfer,
)
here.listen()
node.listen()
const key = 'a key of a test, forty characters of it'
const log = { warn: () => undefined, info: () => undefined }
const onLine = (): void => undefined
/** Errors of orders that the node did not carry out. */
const failures: unknown[] = []
let [fresh, old]: (SecureLines | undefined)[] = []
const openTo = (lines: Pick<SecureLines, 'port'> | undefined) => () =>
  openSecureStream({ address: `127.0.0.1:${lines?.port}`, key })
beforeAll(async () => {
  const at = { listen: '127.0.0.1:0', key, log, onLine }
  fresh = await serveSecureLines({
    ...at,
    onStream: (stream) =>
      void serveStream(stream, transfer).catch((error: unknown) => failures.push(error)),
  })
  old = await serveSecureLines(at)
})
afterAll(async () => {
  here.dispose()
  node.dispose()
  port1.close()
  await fresh?.close()
  await old?.close()
  rmSync(folder, { recursive: true, force: true })
})
const gone = 'the node is gone'
const from = path.join(folder, 'from')
const to = path.join(folder, 'to')

describe.each([
  { way: 'on streams', files: () => nodeFiles(here, gone, openTo(fresh)), pieces: false },
  { way: 'to a release without', files: () => nodeFiles(here, gone, openTo(old)), pieces: true },
  { way: 'over the line alone', files: () => nodeFiles(here, gone, null), pieces: true },
])('$way', ({ files, pieces }) => {
  test.each([0, 1, 1_048_576, 3_500_000])(
    '%i bytes there and back are the same',
    async (length) => {
      calls.length = 0
      const content = randomBytes(length)
      writeFileSync(from, content)
      await files().send(from, async (there) => {
        expect(readFileSync(there).equals(content)).toBe(true)
      })
      await files().fetch(to, async (there) => writeFileSync(there, content), { isKept: true })
      expect(readFileSync(to).equals(content)).toBe(true)
      expect(calls.includes('file/read')).toBe(pieces)
      expect(calls.includes('file/write')).toBe(pieces)
      expect(await readdir(transfer)).toEqual([])
    },
  )
})

describe('a stream that is cut off', () => {
  /** A network in front of the node that cuts a connection after so many bytes. */
  async function openNetwork(bytes: number): Promise<net.Server> {
    const network = net.createServer((near) => {
      const far = net.connect(fresh?.port ?? 0, '127.0.0.1')
      let seen = 0
      const end = (): void => {
        near.destroy()
        far.destroy()
      }
      const pass = (one: net.Socket, other: net.Socket): void => {
        one.on('data', (piece: Buffer) => {
          seen += piece.length
          if (seen > bytes) end()
          else other.write(piece)
        })
        one.on('error', end).on('close', end)
      }
      pass(near, far)
      pass(far, near)
    })
    await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve))
    return network
  }
  test.each([3_000, 2_000_000])(
    'after %i bytes is a failure, and leaves nothing',
    async (bytes) => {
      const network = await openNetwork(bytes)
      const { port } = network.address() as AddressInfo
      const files = nodeFiles(here, gone, openTo({ port }))
      const content = randomBytes(3_500_000)
      writeFileSync(from, content)
      rmSync(to, { force: true })
      const failure = { name: 'DriverFailure', kind: 'unavailable' }
      const used = files.send(from, async () => 'used')
      await expect(used).rejects.toMatchObject(failure)
      const fetched = files.fetch(to, async (there) => writeFileSync(there, content), {
        isKept: false,
      })
      await expect(fetched).rejects.toMatchObject(failure)
      expect((await readdir(folder)).filter((name) => name.startsWith('to'))).toEqual([])
      expect(await readdir(transfer)).toEqual([])
      network.close()
    },
  )
})

test('a stream asks for nothing but files of the folder', async () => {
  const secret = path.join(folder, 'secret')
  writeFileSync(secret, 'secret')
  for (const order of [
    { op: 'read', name: '../secret' },
    { op: 'write', name: '../secret', bytes: 1 },
    { op: 'read', name: randomUUID() },
    { op: 'write', name: randomUUID(), bytes: -1 },
    { op: 'remove', name: randomUUID() },
    'x'.repeat(5_000),
  ]) {
    failures.length = 0
    const stream = await openTo(fresh)()
    const said: Buffer[] = []
    const closed = new Promise((resolve) => void stream.once('close', resolve))
    stream.on('data', (piece: Buffer) => said.push(piece)).on('error', () => undefined)
    stream.write(`${JSON.stringify(order)}\nx`)
    await closed
    expect(Buffer.concat(said).toString()).toBe('')
    expect(failures).toHaveLength(1)
  }
  expect(readFileSync(secret, 'utf8')).toBe('secret')
})
