/** Owners of many servers, and the processes of one node that act on their files. */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { filesDir, runtimeDir } from '../../../../test/embedded-wordpress.ts'
import { Confinement } from './confinement.ts'
import { FileHands } from './file-hands.ts'

test('whoever has been idle longest makes room; nobody who is busy does', async () => {
  const sitesDir = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-hands-'))
  const confinement = new Confinement({
    nodePath: process.execPath,
    runtimeDir,
    filesDir,
    sitesDir,
    exampleUser: null,
    log: { warn: () => {} },
  })
  const hands = new FileHands(confinement, 2)
  onTestFinished(async () => {
    await hands.close()
    fs.rmSync(sitesDir, { recursive: true, force: true })
  })
  const list = async (name: string): Promise<unknown> => {
    const root = path.join(sitesDir, name)
    fs.mkdirSync(root, { recursive: true })
    return await hands.act(root, null, { op: 'list', path: '' })
  }
  const nothing = { entries: [], isWhole: true }
  for (const name of ['one', 'two', 'three', 'one', 'two'])
    expect(await list(name), name).toEqual(nothing)
  // Acts of two that are under way are completed; a third at the same time is refused.
  const all = await Promise.allSettled([list('one'), list('two'), list(randomUUID())])
  expect(all).toMatchObject([
    { status: 'fulfilled', value: nothing },
    { status: 'fulfilled', value: nothing },
    { status: 'rejected', reason: { kind: 'unavailable' } },
  ])
  expect(await list('three')).toEqual(nothing)
})
