// The tests of acts on a site's files for every WordPress driver.
import { expect, test } from 'vitest'
import type { FileAnswer, FileOrder } from '../driver.ts'
import type { Site } from './site.conformance.ts'

export function actsOnFiles(site: Site): void {
  const { spec, page } = site
  const driver = () => site.made().driver

  test('acts on files: what is written is served, what is removed is gone', async () => {
    const act = (order: FileOrder): Promise<FileAnswer> => driver().files(spec.id, order)
    const write = (where: string, text: string, more: object = {}) =>
      act({
        op: 'write',
        path: where,
        upload: '00000000-0000-4000-8000-000000000001',
        offset: 0,
        data: Buffer.from(text).toString('base64'),
        isLast: true,
        replaces: false,
        ...more,
      })
    const listed = await act({ op: 'list', path: '' })
    expect(listed).toMatchObject({
      isWhole: true,
      entries: expect.arrayContaining([
        expect.objectContaining({ name: 'wp-content', kind: 'folder' }) as object,
        expect.objectContaining({ name: 'index.php', kind: 'file' }) as object,
      ]) as object[],
    })
    expect(await act({ op: 'folder', path: 'ảnh' })).toEqual({})
    expect(await act({ op: 'folder', path: 'ảnh' })).toEqual({ fault: 'exists' })
    // In two pieces, of which the second is sent twice.
    expect(await write('ảnh/a.txt', 'xin ', { isLast: false })).toEqual({ bytes: 4 })
    const second = { offset: 4, isLast: false }
    for (let tries = 0; tries < 2; tries++)
      expect(await write('ảnh/a.txt', 'chào', second)).toEqual({ bytes: 9 })
    expect(await act({ op: 'read', path: 'ảnh/a.txt', offset: 0 })).toEqual({ fault: 'missing' })
    expect(await write('ảnh/a.txt', '!', { offset: 9 })).toEqual({ bytes: 10 })
    expect((await page('/%E1%BA%A3nh/a.txt')).text).toBe('xin chào!')
    expect(await write('ảnh/a.txt', 'x')).toEqual({ fault: 'exists' })
    expect(await write('ảnh/a.txt', 'khác', { replaces: true })).toEqual({ bytes: 5 })
    expect(await act({ op: 'read', path: 'ảnh/a.txt', offset: 1 })).toEqual({
      bytes: 5,
      data: Buffer.from('hác').toString('base64'),
    })
    expect(await act({ op: 'move', path: 'ảnh', to: 'hình' })).toEqual({})
    expect(await act({ op: 'list', path: 'hình' })).toMatchObject({
      entries: [{ name: 'a.txt', kind: 'file', bytes: 5 }],
    })
    const touched = {
      op: 'attributes',
      path: 'hình/a.txt',
      mode: 0o4600,
      at: 86_400_000,
    } as const
    expect(await act(touched)).toEqual({})
    expect(await act({ op: 'stat', path: 'hình/a.txt' })).toMatchObject({
      entries: [{ name: 'a.txt', kind: 'file', bytes: 5, at: 86_400_000 }],
    })
    expect(await act({ op: 'rmdir', path: 'hình' })).toEqual({ fault: 'exists' })
    expect(await act({ op: 'unlink', path: 'hình' })).toEqual({ fault: 'kind' })
    expect(await act({ op: 'rmdir', path: 'hình/a.txt' })).toEqual({ fault: 'kind' })
    expect(await act({ op: 'remove', path: 'hình' })).toEqual({})
    expect(await act({ op: 'remove', path: 'hình' })).toEqual({ fault: 'missing' })
    // The database's own files are out of reach, in any spelling.
    for (const out of ['wp-content/database', 'wp-content//Database/x', 'wp-content/db.php'])
      for (const op of ['list', 'remove', 'folder'] as const)
        expect(await act({ op, path: out })).toEqual({ fault: 'ours' })
    for (const out of ['..', 'a/../../b', 'a\0b', 'x'.repeat(300)])
      expect(await act({ op: 'list', path: out })).toEqual({ fault: 'name' })
  })
}
