// The requirements for every DNS driver. A driver's own test calls `conformance` with a function
// that makes the driver and one that queries it.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DnsDriver, RecordSet, ServedType, ZoneHead } from '../driver.ts'

/** The response that a resolver would get. */
export interface QueryAnswer {
  /** `NOERROR`, `NXDOMAIN`, `REFUSED` … */
  readonly rcode: string
  /** Values in the driver's format (`10 mail.example.vn`), in any order. */
  readonly values: readonly string[]
  /** Seconds; undefined without values. */
  readonly ttlSeconds: number | undefined
}

export interface Fixture {
  readonly driver: DnsDriver
  ask(name: string, type: ServedType | 'SOA'): Promise<QueryAnswer>
  /** The longest time until a resolved change is served, ms. */
  readonly settlesMs: number
  /** False: the provider has its own name servers, whatever the head contains. */
  readonly ownNameServers: boolean
  dispose(): Promise<void>
}

const soa = {
  contact: 'hostmaster.dns.example',
  refresh: 7200,
  retry: 900,
  expire: 1_209_600,
  minimum: 60,
}

export function conformance(name: string, open: () => Promise<Fixture>): void {
  describe(`${name}: the agreement of DNS drivers`, () => {
    let fixture: Fixture
    let driver: DnsDriver
    beforeAll(async () => {
      fixture = await open()
      driver = fixture.driver
    })
    afterAll(() => fixture.dispose())

    let count = 0
    const head = (): ZoneHead => ({
      id: randomUUID(),
      name: `zone${++count}.example`,
      serial: 1_790_000_000,
      nameServers: ['ns1.dns.example', 'ns2.dns.example'],
      apexTtlSeconds: 3600,
      soa,
    })
    const next = (from: ZoneHead): ZoneHead => ({ ...from, serial: from.serial + 1 })
    const set = (
      owner: string,
      type: ServedType,
      values: readonly string[],
      ttlSeconds = 300,
    ): RecordSet => ({
      name: owner,
      type,
      ttlSeconds,
      proxied: false,
      values,
    })
    const tells = (
      owner: string,
      type: ServedType | 'SOA',
      values: readonly string[],
      ttlSeconds = 300,
    ): Promise<void> =>
      expect
        .poll(
          async () => {
            const told = await fixture.ask(owner, type)
            return { ...told, values: told.values.toSorted() }
          },
          { timeout: fixture.settlesMs, interval: 20 },
        )
        .toEqual({
          rcode: 'NOERROR',
          values: values.toSorted(),
          ttlSeconds: values.length > 0 ? ttlSeconds : undefined,
        })
    const denies = (owner: string, rcode: string): Promise<void> =>
      expect
        .poll(async () => (await fixture.ask(owner, 'A')).rcode, {
          timeout: fixture.settlesMs,
          interval: 20,
        })
        .toBe(rcode)

    test('is ready once it is started', async () => {
      expect(await driver.health()).toBeUndefined()
    })

    test('a zone that is put is answered: all six types, and what is not there', async () => {
      const zone = head()
      const at = (label: string) => `${label}.${zone.name}`
      await driver.putZone(zone, [
        set(zone.name, 'A', ['203.0.113.7', '203.0.113.8']),
        set(at('www'), 'CNAME', [zone.name], 120),
        set(at('six'), 'AAAA', ['2001:db8::7']),
        set(zone.name, 'MX', [`10 ${at('mail')}`, '20 mail.elsewhere.example']),
        set(zone.name, 'TXT', ['v=spf1 -all', 'say "hi" \\ xin chào']),
        set(at('child'), 'NS', ['ns.elsewhere.example']),
        set(at('a.b'), 'A', ['203.0.113.9'], 30),
      ])
      await tells(zone.name, 'A', ['203.0.113.7', '203.0.113.8'])
      await tells(at('six'), 'AAAA', ['2001:db8::7'])
      await tells(at('a.b'), 'A', ['203.0.113.9'], 30)
      await tells(at('www'), 'CNAME', [zone.name], 120)
      await tells(zone.name, 'MX', [`10 ${at('mail')}`, '20 mail.elsewhere.example'])
      await tells(zone.name, 'TXT', ['v=spf1 -all', 'say "hi" \\ xin chào'])
      await tells(at('b'), 'A', [])
      await tells(at('six'), 'A', [])
      await denies(at('none'), 'NXDOMAIN')
      if (fixture.ownNameServers)
        await tells(zone.name, 'NS', zone.nameServers, zone.apexTtlSeconds)
      expect(await driver.held(zone.name)).toEqual({ id: zone.id, serial: zone.serial })
      expect(await driver.list()).toContain(zone.name)
    })

    test('a text of 2048 bytes arrives whole', async () => {
      const zone = head()
      const text = 'đ'.repeat(1024)
      await driver.putZone(zone, [set(zone.name, 'TXT', [text])])
      await tells(zone.name, 'TXT', [text])
    })

    test('putting a zone again leaves nothing of what it was', async () => {
      const zone = head()
      await driver.putZone(zone, [
        set(`old.${zone.name}`, 'A', ['203.0.113.1']),
        set(zone.name, 'A', ['203.0.113.1']),
      ])
      const later = next(zone)
      for (let twice = 0; twice < 2; twice++)
        await driver.putZone(later, [set(zone.name, 'A', ['203.0.113.2'], 60)])
      await tells(zone.name, 'A', ['203.0.113.2'], 60)
      await denies(`old.${zone.name}`, 'NXDOMAIN')
      expect(await driver.held(zone.name)).toEqual({ id: zone.id, serial: later.serial })
    })

    test('a change adds, replaces and takes away sets, and nothing else', async () => {
      const zone = head()
      const at = (label: string) => `${label}.${zone.name}`
      await driver.putZone(zone, [
        set(at('a'), 'A', ['203.0.113.1']),
        set(at('b'), 'A', ['203.0.113.1']),
        set(at('c'), 'TXT', ['stays']),
      ])
      const later = next(zone)
      const changed = await driver.changeZone(later, zone.serial, [
        set(at('a'), 'A', ['203.0.113.2', '203.0.113.3'], 90),
        set(at('b'), 'A', []),
        set(at('d'), 'AAAA', ['2001:db8::1']),
      ])
      expect(changed).toBe('applied')
      await tells(at('a'), 'A', ['203.0.113.2', '203.0.113.3'], 90)
      await denies(at('b'), 'NXDOMAIN')
      await tells(at('c'), 'TXT', ['stays'])
      await tells(at('d'), 'AAAA', ['2001:db8::1'])
      expect(await driver.held(zone.name)).toEqual({ id: zone.id, serial: later.serial })
    })

    test('a change to what is not held at that serial does nothing and says so', async () => {
      const zone = head()
      expect(
        await driver.changeZone(next(zone), zone.serial, [set(zone.name, 'A', ['203.0.113.1'])]),
      ).toBe('behind')
      expect(await driver.held(zone.name)).toBeUndefined()
      await driver.putZone(zone, [set(zone.name, 'A', ['203.0.113.1'])])
      const far = { ...zone, serial: zone.serial + 5 }
      expect(
        await driver.changeZone(far, zone.serial + 4, [set(zone.name, 'A', ['203.0.113.9'])]),
      ).toBe('behind')
      expect(await driver.changeZone({ ...next(zone), id: randomUUID() }, zone.serial, [])).toBe(
        'behind',
      )
      await tells(zone.name, 'A', ['203.0.113.1'])
    })

    test('a name can change from a CNAME to addresses in one change', async () => {
      const zone = head()
      const www = `www.${zone.name}`
      await driver.putZone(zone, [set(www, 'CNAME', ['elsewhere.example'])])
      await driver.changeZone(next(zone), zone.serial, [
        set(www, 'A', ['203.0.113.1']),
        set(www, 'CNAME', []),
      ])
      await tells(www, 'A', ['203.0.113.1'])
    })

    test("another account's claim takes a name over whole", async () => {
      const zone = head()
      await driver.putZone(zone, [set(`old.${zone.name}`, 'A', ['203.0.113.1'])])
      const other = { ...zone, id: randomUUID(), serial: zone.serial - 1000 }
      await driver.putZone(other, [set(`new.${zone.name}`, 'A', ['203.0.113.2'])])
      await tells(`new.${zone.name}`, 'A', ['203.0.113.2'])
      await denies(`old.${zone.name}`, 'NXDOMAIN')
      expect(await driver.held(zone.name)).toEqual({ id: other.id, serial: other.serial })
    })

    test('a removed zone is answered no more; removing it again is fine', async () => {
      const zone = head()
      await driver.putZone(zone, [set(zone.name, 'A', ['203.0.113.1'])])
      for (let twice = 0; twice < 2; twice++) await driver.removeZone(zone.name)
      await denies(zone.name, 'REFUSED')
      expect(await driver.held(zone.name)).toBeUndefined()
      expect(await driver.list()).not.toContain(zone.name)
    })

    test('two thousand sets', async () => {
      const zone = head()
      const many = Array.from({ length: 2000 }, (_, index) =>
        set(`h${index}.${zone.name}`, 'A', [`10.0.${index >> 8}.${index & 255}`]),
      )
      await driver.putZone(zone, many)
      await tells(`h1999.${zone.name}`, 'A', ['10.0.7.207'])
      await tells(`h0.${zone.name}`, 'A', ['10.0.0.0'])
    })
  })
}
