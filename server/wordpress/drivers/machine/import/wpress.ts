/**
 * Reads a package of All-in-One WP Migration (.wpress), as its author's published reader does
 * (github.com/yani-/wpress): a head of 4377 bytes before each file (name 255, size 14, time of the
 * change 12, folder 4096, each ended by NUL), and a head of zeros at the end.
 */
import { fstatSync, readSync } from 'node:fs'
import { nameOf, PackageFault, streamOf, type PackageEntry } from './package-fault.ts'

export const headBytes = 4_377
const fields = {
  name: [0, 255],
  size: [255, 269],
  mtime: [269, 281],
  folder: [281, 4_377],
} as const

function fieldOf(head: Buffer, field: keyof typeof fields): Buffer {
  const [from, to] = fields[field]
  const all = head.subarray(from, to)
  const end = all.indexOf(0)
  return end < 0 ? all : all.subarray(0, end)
}

/** Whether this is a valid head of a file. */
export function isWpressHead(head: Buffer): boolean {
  if (head.length < headBytes) return false
  const number = /^\d{1,14}$/
  return (
    fieldOf(head, 'name').length > 0 &&
    number.test(fieldOf(head, 'size').toString('latin1')) &&
    number.test(fieldOf(head, 'mtime').toString('latin1'))
  )
}

/** The entries in their order. Throws PackageFault. */
export function* readWpress(descriptor: number, maxEntries: number): Generator<PackageEntry> {
  const { size } = fstatSync(descriptor)
  let at = 0
  for (let count = 0; at + headBytes <= size; count++) {
    if (count > maxEntries) throw new PackageFault('too_many_files')
    const head = Buffer.alloc(headBytes)
    readSync(descriptor, head, 0, headBytes, at)
    if (head.every((byte) => byte === 0)) return
    if (!isWpressHead(head)) throw new PackageFault('damaged', 'a file of the package has no head')
    const bytes = Number(fieldOf(head, 'size').toString('latin1'))
    const start = at + headBytes
    if (start + bytes > size) throw new PackageFault('damaged', 'the package ends too soon')
    const folder = nameOf(fieldOf(head, 'folder'))
    const own = nameOf(fieldOf(head, 'name'))
    const mtime = new Date(Number(fieldOf(head, 'mtime').toString('latin1')) * 1_000)
    yield {
      name: folder === '' || folder === '.' ? own : `${folder.replace(/^\.\//, '')}/${own}`,
      kind: 'file',
      mtime: Number.isNaN(mtime.getTime()) ? undefined : mtime,
      async *content() {
        yield* streamOf(descriptor, start, bytes) as AsyncIterable<Buffer>
      },
    }
    at = start + bytes
  }
  throw new PackageFault('damaged', 'the package has no end')
}
