/**
 * One count of a site's disks for all processes that write to them: together they never exceed the
 * limit, and one alone can use all of it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DiskLease } from '../../../../runtimes/wordpress-wasm/src/disk-lease.js'

const megabyte = 1_048_576
const source = path.resolve(
  import.meta.dirname,
  '../../../../runtimes/wordpress-wasm/src/disk-lease.js',
)
let top: string
let dir: string
beforeAll(() => {
  top = mkdtempSync(path.join(os.tmpdir(), 'portal-lease-'))
})
beforeEach(() => {
  dir = mkdtempSync(path.join(top, 'count-'))
})
afterAll(() => rmSync(top, { recursive: true, force: true }))

/** A process of a site on `disk`, which counts as the runtime's disk-budget.js does. */
class Writer {
  readonly lease: DiskLease
  readonly disk: { bytes: number; limit: number }
  measured = 0
  constructor(folder: string, disk: { bytes: number; limit: number }) {
    this.disk = disk
    this.lease = new DiskLease(folder)
    this.measure()
  }
  measure(): void {
    const before = this.lease.beginMeasuring()
    const { bytes } = this.disk
    this.lease.measured(before)
    this.measured = bytes
  }
  write(bytes: number): boolean {
    const fits = this.lease.take('ssd', bytes, this.disk.limit - this.measured)
    if (fits) this.disk.bytes += bytes
    return fits
  }
  remove(bytes: number): void {
    const there = Math.min(bytes, this.disk.bytes)
    this.lease.freeing('ssd', there)
    this.disk.bytes -= there
    this.lease.freed('ssd', there)
  }
}

const act = fc.record({
  who: fc.nat({ max: 3 }),
  what: fc.constantFrom('write', 'write', 'write', 'remove', 'settle', 'measure', 'restart'),
  bytes: fc.oneof(fc.nat({ max: 8_192 }), fc.nat({ max: 4 * megabyte })),
})

describe('several that write to one disk', { timeout: 120_000 }, () => {
  test('hold no more than fits after any acts, and all of it is there in the end', () => {
    fc.assert(
      fc.property(
        fc.array(act, { maxLength: 80 }),
        fc.integer({ min: 0, max: 30 * megabyte }),
        (acts, limit) => {
          const folder = mkdtempSync(path.join(top, 'acts-'))
          const disk = { bytes: 0, limit }
          const writers = Array.from({ length: 4 }, () => new Writer(folder, disk))
          for (const { who, what, bytes } of acts) {
            const writer = writers[who] ?? new Writer(folder, disk)
            if (what === 'write') writer.write(bytes)
            else if (what === 'remove') writer.remove(bytes)
            else if (what === 'settle') writer.lease.settle()
            else if (what === 'measure') writer.measure()
            // The process is killed: it reports nothing more, and a new one takes its place.
            else writers[who] = new Writer(folder, disk)
            expect(disk.bytes).toBeLessThanOrEqual(limit)
          }
          for (const { lease } of writers) lease.settle()
          const dead = acts.filter(({ what }) => what === 'restart').length
          const [first] = writers
          first?.measure()
          // Bytes reserved by a killed process are free again when its file is removed, after ten
          // minutes.
          if (dead === 0) expect(first?.write(limit - disk.bytes)).toBe(true)
          if (dead === 0) expect(first?.write(1)).toBe(false)
          rmSync(folder, { recursive: true })
        },
      ),
      { numRuns: 60 },
    )
  })

  test('of what is left each takes less, so that one may have nearly all of it', () => {
    const disk = { bytes: 0, limit: 10 * megabyte }
    const writers = Array.from({ length: 4 }, () => new Writer(dir, disk))
    for (const writer of writers) expect(writer.write(1_000)).toBe(true)
    // During their requests three writers hold a piece each; the first gets the rest.
    const [first] = writers
    while (first?.write(65_536));
    expect(disk.bytes).toBeGreaterThan(7 * megabyte)
    for (const { lease } of writers.slice(1)) lease.settle()
    while (first?.write(65_536));
    expect(disk.bytes).toBeGreaterThan(disk.limit - 65_536)
    expect(disk.bytes).toBeLessThanOrEqual(disk.limit)
  })

  test('one that writes and removes its journal a thousand times takes nothing from others', () => {
    const disk = { bytes: 0, limit: 3 * megabyte }
    const writers = Array.from({ length: 2 }, () => new Writer(dir, disk))
    const [database, other] = writers
    for (let at = 0; at < 1_000; at++) {
      expect(database?.write(65_536)).toBe(true)
      database?.remove(65_536)
    }
    database?.lease.settle()
    expect(other?.write(3 * megabyte)).toBe(true)
    expect(database?.write(1)).toBe(false)
  })

  test('a process that ended leaves its file, which goes ten minutes later', () => {
    const disk = { bytes: 0, limit: megabyte }
    const first = new Writer(dir, disk)
    const [ended = ''] = readdirSync(dir)
    const second = new Writer(dir, disk)
    const long = new Date(Date.now() - 601_000)
    utimesSync(path.join(dir, ended), long, long)
    const third = new Writer(dir, disk)
    expect(readdirSync(dir)).toHaveLength(2)
    expect(readdirSync(dir)).not.toContain(ended)
    // The process was only suspended: it continues, in a file of its own.
    expect(first.write(1_000)).toBe(true)
    first.lease.keepAlive()
    expect(readdirSync(dir)).toHaveLength(3)
    expect(first.write(megabyte - 1_000)).toBe(true)
    third.measure()
    for (const writer of [second, third]) {
      writer.measure()
      expect(writer.write(1)).toBe(false)
    }
  })

  test('four real processes at once fill what is left, and no byte more', async () => {
    const limit = 30 * megabyte
    const script = `
      import fs from 'node:fs'
      import path from 'node:path'
      import { DiskLease } from ${JSON.stringify(source)}
      const [dir, files, name] = process.argv.slice(1)
      const lease = new DiskLease(dir)
      const measure = () => {
        const before = lease.beginMeasuring()
        let bytes = 0
        for (const one of fs.readdirSync(files)) bytes += fs.statSync(path.join(files, one)).size
        lease.measured(before)
        return bytes
      }
      let measured = measure()
      const out = fs.openSync(path.join(files, name), 'a')
      process.stdout.write('ready\\n')
      process.stdin.once('data', () => {
        let refused = 0
        for (let at = 0; refused < 20; at++) {
          const bytes = 1 + Math.floor(Math.random() * 40_000)
          if (lease.take('ssd', bytes, ${limit} - measured)) {
            fs.writeSync(out, Buffer.alloc(bytes))
            if (at % 50 === 0) lease.settle()
          } else {
            refused++
            lease.settle()
            measured = measure()
          }
        }
        process.exit(0)
      })`
    const files = mkdtempSync(path.join(top, 'files-'))
    const children = ['a', 'b', 'c', 'd'].map((name) => {
      const args = ['--input-type=module', '-e', script, '--', dir, files, name]
      return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    })
    await Promise.all(children.map(({ stdout }) => once(stdout, 'data')))
    const ended = Promise.all(
      children.map((child) => new Promise((resolve) => child.once('exit', resolve))),
    )
    for (const { stdin } of children) stdin.write('go\n')
    expect(await ended).toEqual([0, 0, 0, 0])
    const sizes = readdirSync(files).map((name) => statSync(path.join(files, name)).size)
    const all = sizes.reduce((sum, size) => sum + size, 0)
    expect(all).toBeLessThanOrEqual(limit)
    expect(all).toBeGreaterThan(limit - 4 * 40_000)
  })
})
