/** Acts on a site's files while the site's own programs change them. */
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { FileOrder } from '../../driver.ts'
import { actInTree, namesOf } from '../machine/tree.ts'

let home: string
let root: string
let outside: string
beforeAll(async () => {
  home = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-tree-'))
})
afterAll(() => fs.rm(home, { recursive: true, force: true }))
beforeEach(async () => {
  root = await fs.mkdtemp(path.join(home, 'site-'))
  outside = await fs.mkdtemp(path.join(home, 'other-'))
  await fs.writeFile(path.join(outside, 'secret.txt'), 'secret')
})
const act = (order: FileOrder) => actInTree(root, order)
const upload = '00000000-0000-4000-8000-000000000001'
const write = (where: string, more: object = {}) =>
  act({
    op: 'write',
    path: where,
    upload,
    offset: 0,
    data: Buffer.from('new').toString('base64'),
    isLast: true,
    replaces: true,
    ...more,
  })

test('no link is followed, whatever is asked', async () => {
  await fs.symlink(outside, path.join(root, 'way'))
  await fs.symlink(path.join(outside, 'secret.txt'), path.join(root, 'file.txt'))
  await fs.mkdir(path.join(root, 'own'))
  expect(await act({ op: 'list', path: 'way' })).toEqual({ fault: 'link' })
  expect(await act({ op: 'read', path: 'way/secret.txt', offset: 0 })).toEqual({ fault: 'link' })
  expect(await act({ op: 'read', path: 'file.txt', offset: 0 })).toEqual({ fault: 'link' })
  expect(await write('way/x.txt')).toEqual({ fault: 'link' })
  expect(await write('file.txt')).toEqual({ fault: 'exists' })
  expect(await act({ op: 'folder', path: 'way/x' })).toEqual({ fault: 'link' })
  expect(await act({ op: 'move', path: 'own', to: 'way/own' })).toEqual({ fault: 'link' })
  expect(await act({ op: 'remove', path: 'way/secret.txt' })).toEqual({ fault: 'link' })
  // The link itself is removed, and not its target.
  expect(await act({ op: 'remove', path: 'way' })).toEqual({})
  expect(await fs.readdir(outside)).toEqual(['secret.txt'])
})

test('a folder that is turned into a link meanwhile leads nowhere', async () => {
  const swap = path.join(root, 'swap')
  const kept = path.join(home, 'kept')
  await fs.mkdir(swap)
  let over = false
  const swapping = (async () => {
    while (!over) {
      await fs.rename(swap, kept)
      await fs.symlink(outside, swap)
      await fs.unlink(swap)
      await fs.rename(kept, swap)
    }
  })()
  const seen = new Set<string>()
  for (let tries = 0; tries < 400; tries++) {
    const answer = await act({ op: 'read', path: 'swap/secret.txt', offset: 0 })
    seen.add('fault' in answer ? String(answer.fault) : 'read')
    await write('swap/here.txt')
    await act({ op: 'remove', path: 'swap/secret.txt' })
  }
  over = true
  await swapping
  expect(seen).not.toContain('read')
  expect(await fs.readdir(outside)).toEqual(['secret.txt'])
  expect(await fs.readFile(path.join(outside, 'secret.txt'), 'utf8')).toBe('secret')
})

test('removing a folder follows no link in it', async () => {
  await fs.mkdir(path.join(root, 'a/b'), { recursive: true })
  await fs.symlink(outside, path.join(root, 'a/b/way'))
  await fs.writeFile(path.join(root, 'a/b/c.txt'), 'x')
  expect(await act({ op: 'remove', path: 'a' })).toEqual({})
  expect(await fs.readdir(root)).toEqual([])
  expect(await fs.readdir(outside)).toEqual(['secret.txt'])
})

test('what is no file is not opened: a pipe would hold the process for ever', async () => {
  const { execFileSync } = await import('node:child_process')
  execFileSync('mkfifo', [path.join(root, 'pipe')])
  expect(await act({ op: 'read', path: 'pipe', offset: 0 })).toEqual({ fault: 'kind' })
  expect(await write('pipe')).toEqual({ fault: 'exists' })
  expect(await act({ op: 'read', path: '', offset: 0 })).toEqual({ fault: 'name' })
})

test('a file is as it was until the last piece, and pieces ahead find a gap', async () => {
  await fs.writeFile(path.join(root, 'a.txt'), 'old')
  expect(await write('a.txt', { isLast: false })).toEqual({ bytes: 3 })
  expect(await write('a.txt', { offset: 9 })).toEqual({ fault: 'offset' })
  expect(await fs.readFile(path.join(root, 'a.txt'), 'utf8')).toBe('old')
  expect(await act({ op: 'list', path: '' })).toMatchObject({ entries: [{ name: 'a.txt' }] })
  expect(await write('a.txt', { offset: 3 })).toEqual({ bytes: 6 })
  expect(await fs.readFile(path.join(root, 'a.txt'), 'utf8')).toBe('newnew')
  expect(await fs.readdir(root)).toEqual(['a.txt'])
})

test('what the site is made of is not removed, nor moved into itself', async () => {
  await fs.mkdir(path.join(root, 'wp-content/uploads'), { recursive: true })
  expect(await act({ op: 'remove', path: 'wp-content' })).toEqual({ fault: 'ours' })
  expect(await act({ op: 'move', path: 'wp-content', to: 'old' })).toEqual({ fault: 'ours' })
  const inside = { op: 'move', path: 'wp-content/uploads', to: 'wp-content/uploads/x' } as const
  expect(await act(inside)).toEqual({ fault: 'name' })
})

test('no path leaves the folder', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      let names: string[]
      try {
        names = namesOf(text)
      } catch {
        return
      }
      const where = path.resolve('/site', ...names)
      expect(where === '/site' || where.startsWith('/site/')).toBe(true)
      expect(names).not.toContain('..')
    }),
  )
})
