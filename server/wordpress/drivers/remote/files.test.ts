/** Archives that are longer than one piece cross the line as they are, in both directions. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import { lineThrough } from '../../../sites-line.ts'
import { nodeFiles, serveFiles } from './files.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-files-'))
const { port1, port2 } = new MessageChannel()
const [here, node] = [lineThrough(port1), lineThrough(port2)]
serveFiles(node, path.join(folder, 'transfer'))
here.listen()
node.listen()
const files = nodeFiles(here, 'the node is gone')
afterAll(() => {
  here.dispose()
  node.dispose()
  port1.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each([0, 1, 1_048_576, 3_500_000])('%i bytes there and back are the same', async (length) => {
  const content = randomBytes(length)
  const [from, to] = [path.join(folder, 'from'), path.join(folder, 'to')]
  writeFileSync(from, content)
  await files.send(from, async (there) => {
    expect(readFileSync(there).equals(content)).toBe(true)
  })
  await files.fetch(to, async (there) => writeFileSync(there, content))
  expect(readFileSync(to).equals(content)).toBe(true)
})
