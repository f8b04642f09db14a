/** The files that the name server keeps, and reads when it restarts. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RecordSet, ZoneHead } from '../../driver.ts'
import { ZoneJournal } from './zone-journal.ts'
import { Zones } from './zones.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'portal-zones-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const onFault = (error: unknown): never => {
  throw error
}
const head = (name: string, serial: number): ZoneHead => ({
  id: `id of ${name}`,
  name,
  serial,
  nameServers: ['ns1.dns.example', 'ns2.dns.example'],
  apexTtlSeconds: 3600,
  soa: { contact: 'h.dns.example', refresh: 1, retry: 1, expire: 1, minimum: 1 },
})
const inOrder = (sets: readonly RecordSet[]): RecordSet[] =>
  sets.toSorted((a, b) => (`${a.name} ${a.type}` < `${b.name} ${b.type}` ? -1 : 1))
const everything = (zones: Zones) =>
  zones
    .names()
    .toSorted()
    .map((name) => {
      const zone = zones.read(name)
      return zone && { head: zone.head, sets: inOrder(zone.sets) }
    })
const readAgain = async (onTrouble: (error: unknown) => void = onFault) => {
  const zones = new Zones()
  const journal = new ZoneJournal(zones, folder, onTrouble)
  await journal.open()
  await journal.close()
  return everything(zones)
}

const names = fc.constantFrom('a.example', 'b.example', 'c.example')
const setsOf = (zone: string) =>
  fc.uniqueArray(
    fc.record({
      name: fc.constantFrom(zone, `www.${zone}`, `a.b.${zone}`, `*.${zone}`),
      type: fc.constantFrom('A' as const, 'TXT' as const, 'NS' as const),
      ttlSeconds: fc.integer({ min: 30, max: 86_400 }),
      proxied: fc.constant(false),
      values: fc.array(fc.constantFrom('203.0.113.7', 'ns.other.example', 'đường\u2028'), {
        minLength: 1,
        maxLength: 2,
      }),
    }),
    { selector: ({ name, type }) => `${name} ${type}`, maxLength: 5 },
  )
const acts = fc.array(
  names.chain((name) =>
    fc.record({
      name: fc.constant(name),
      act: fc.constantFrom('put', 'change', 'remove'),
      sets: setsOf(name).map((sets) =>
        sets.filter((set) => !(set.type === 'NS' && set.name === name)),
      ),
    }),
  ),
  { maxLength: 30 },
)

test('whatever was put, changed and removed is there after a new start', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (all) => {
      await fs.rm(path.join(folder, 'zones.jsonl'), { force: true })
      const zones = new Zones()
      const journal = new ZoneJournal(zones, folder, onFault)
      await journal.open()
      let serial = 1
      for (const { name, act, sets } of all) {
        serial += 1
        const present = zones.get(name)?.head
        if (act === 'put') {
          zones.put(head(name, serial), sets)
          void journal.note(['put', head(name, serial), sets])
        } else if (act === 'change' && present) {
          zones.change(head(name, serial), present.serial, sets)
          void journal.note(['change', head(name, serial), present.serial, sets])
        } else if (act === 'remove' && present) {
          zones.remove(name)
          void journal.note(['remove', name])
        }
      }
      await journal.close()
      expect(await readAgain()).toEqual(everything(zones))
    }),
    { numRuns: 100 },
  )
})

test('a file that grows is written anew while changes go on, and loses none', async () => {
  const zones = new Zones()
  const journal = new ZoneJournal(zones, folder, onFault)
  await journal.open()
  const text = 'x'.repeat(2000)
  let serial = 1
  zones.put(head('a.example', serial), [])
  await journal.note(['put', head('a.example', serial), []])
  const noted: Promise<void>[] = []
  for (let turn = 0; turn < 3000; turn++) {
    const next = head('a.example', serial + 1)
    const set: RecordSet = {
      name: `n${turn % 7}.a.example`,
      type: 'TXT',
      ttlSeconds: 60,
      proxied: false,
      values: [`${turn} ${text}`],
    }
    zones.change(next, serial, [set])
    noted.push(journal.note(['change', next, serial, [set]]))
    serial += 1
    if (turn % 100 === 0) await Promise.all(noted.splice(0))
  }
  await journal.close()
  // Six megabytes of changes: the compacted file is a small part of them.
  expect((await fs.stat(path.join(folder, 'zones.jsonl'))).size).toBeLessThan(1_100_000)
  expect(await readAgain()).toEqual(everything(zones))
})

test('a last line that was cut is left out; a file that is no journal is replaced', async () => {
  const zones = new Zones()
  const journal = new ZoneJournal(zones, folder, onFault)
  await journal.open()
  for (const name of ['a.example', 'b.example']) {
    zones.put(head(name, 1), [])
    await journal.note(['put', head(name, 1), []])
  }
  await journal.close()
  const file = path.join(folder, 'zones.jsonl')
  const whole = await fs.readFile(file)
  await fs.writeFile(file, whole.subarray(0, whole.length - 20))
  expect((await readAgain()).map((zone) => zone?.head.name)).toEqual(['a.example'])

  await fs.writeFile(file, '["change",{"name":"z.example","id":"z","serial":2},1,[]]\n')
  const faults: unknown[] = []
  expect(await readAgain((fault) => faults.push(fault))).toEqual([])
  expect(faults).toHaveLength(1)
  expect(await readAgain()).toEqual([])
})

/** Simulates a full disk: no file of this process grows beyond `bytes`. */
async function withFilesUpTo(bytes: number, act: () => Promise<void>): Promise<void> {
  const limits = (...words: string[]): string =>
    execFileSync('prlimit', ['--pid', String(process.pid), ...words], { encoding: 'utf8' }).trim()
  const before = limits('--fsize', '--output', 'SOFT', '--noheadings')
  limits(`--fsize=${bytes}:`)
  try {
    await act()
  } finally {
    limits(`--fsize=${before}:`)
  }
}

test('a disk that is full for a moment costs nothing of what is changed later', async () => {
  const faults: unknown[] = []
  const zones = new Zones()
  const journal = new ZoneJournal(zones, folder, (fault) => faults.push(fault))
  await journal.open()
  const put = async (name: string): Promise<void> => {
    zones.put(head(name, 1), [])
    await journal.note(['put', head(name, 1), []])
  }
  await put('before.example')
  const file = path.join(folder, 'zones.jsonl')
  const { size } = await fs.stat(file)
  await withFilesUpTo(size + 20, async () => {
    await put('lost.example')
    await put('lost-too.example')
  })
  expect((await fs.stat(file)).size).toBe(size + 20)
  expect(faults).toHaveLength(2)
  await put('after.example')
  // Not closed, as if the process were killed now.
  expect(await readAgain()).toEqual(everything(zones))
  await journal.close()
})

test('one line that cannot be read hides no later one, and is told', async () => {
  const lines = ['a', 'b', 'c'].map((name) =>
    JSON.stringify(['put', head(`${name}.example`, 1), []]),
  )
  const change = (name: string) => JSON.stringify(['change', head(name, 3), 2, []])
  await fs.writeFile(
    path.join(folder, 'zones.jsonl'),
    [
      lines[0],
      `${lines[1]?.slice(0, 30)}${lines[1]}`,
      change('a.example'),
      // Changed and removed while the file was rewritten.
      change('gone.example'),
      JSON.stringify(['remove', 'gone.example']),
      lines[2],
      '',
    ].join('\n'),
  )
  const faults: unknown[] = []
  const read = await readAgain((fault) => faults.push(fault))
  expect(read.map((zone) => zone?.head.name)).toEqual(['a.example', 'c.example'])
  expect(faults.map(String)).toEqual([
    'Error: of the kept zones 1 lines cannot be read, and 1 zones lack a change (a.example): ' +
      'the portal puts them again',
  ])
  expect(await readAgain()).toEqual(read)
})

test('a name server starts on a full disk, and keeps what is changed from then on', async () => {
  const zones = new Zones()
  const journal = new ZoneJournal(zones, folder, onFault)
  await journal.open()
  zones.put(head('a.example', 1), [])
  await journal.note(['put', head('a.example', 1), []])
  await journal.close()
  const faults: unknown[] = []
  const again = new Zones()
  const full = new ZoneJournal(again, folder, (fault) => faults.push(fault))
  await withFilesUpTo(50, () => full.open())
  expect(faults).toHaveLength(1)
  expect(again.names()).toEqual(['a.example'])
  again.put(head('b.example', 1), [])
  await full.note(['put', head('b.example', 1), []])
  await full.close()
  expect(await readAgain()).toEqual(everything(again))
})
