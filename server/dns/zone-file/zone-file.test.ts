/** The reader and writer of zone files; against BIND itself in bench/zone-files.ts. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { generateZoneFile, mutate } from '../../../test/zone-files.ts'
import { readZoneFile, writeZoneFile, zoneFileLimits, type ZoneRecord } from './index.ts'

const origin = 'example.com'
const start = '$TTL 3600\n@ SOA ns1 host 1 7200 900 1209600 300\n'
const read = (text: string) => readZoneFile(text, { origin })
const brief = (text: string): string[] =>
  read(text).records.map(
    ({ name, ttlSeconds, type, data }) => `${name} ${ttlSeconds} ${type} ${data}`,
  )
const faults = (text: string): string[] =>
  read(text).errors.map(({ line, column, message }) => `${line}:${column} ${message.en}`)

const soa = {
  primary: 'ns1.portal.example',
  mailbox: 'hostmaster.portal.example',
  serial: 7,
  refreshSeconds: 7200,
  retrySeconds: 900,
  expireSeconds: 1_209_600,
  minimumSeconds: 300,
  ttlSeconds: 3600,
}

describe('reading', () => {
  it('takes the example of RFC 1035, 5.3', () => {
    const text = `@   IN  SOA     VENERA      Action\\.domains (
                                 20     ; SERIAL
                                 7200   ; REFRESH
                                 600    ; RETRY
                                 3600000; EXPIRE
                                 60)    ; MINIMUM

        NS      A.ISI.EDU.
        NS      VENERA
        MX      10      VENERA
        MX      20      VAXA

A       A       26.3.0.103

VENERA  A       10.1.0.52
        A       128.9.0.32
`
    const { records, errors } = readZoneFile(text, { origin: 'isi.edu' })
    expect(errors).toEqual([])
    expect(records).toMatchObject([
      {
        type: 'SOA',
        line: 1,
        ttlSeconds: 60,
        data: 'venera.isi.edu. action\\.domains.isi.edu. 20 7200 600 3600000 60',
      },
      { type: 'NS', line: 8, name: 'isi.edu', data: 'a.isi.edu' },
      { type: 'NS', line: 9, data: 'venera.isi.edu' },
      { type: 'MX', line: 10, priority: 10, data: 'venera.isi.edu' },
      { type: 'MX', line: 11, priority: 20, data: 'vaxa.isi.edu' },
      { type: 'A', line: 13, name: 'a.isi.edu', data: '26.3.0.103' },
      { type: 'A', line: 15, name: 'venera.isi.edu', data: '10.1.0.52' },
      { type: 'A', line: 16, name: 'venera.isi.edu', data: '128.9.0.32' },
    ])
  })

  it('takes TTL and class in either order, units, and the TTL of the set', () => {
    expect(
      brief('a 300 IN A 192.0.2.1\nb IN 1h30m A 192.0.2.2\nc in a 192.0.2.3\na 9 A 192.0.2.4\n'),
    ).toEqual([
      'a.example.com 300 A 192.0.2.1',
      'b.example.com 5400 A 192.0.2.2',
      'c.example.com 5400 A 192.0.2.3',
      'a.example.com 300 A 192.0.2.4',
    ])
    expect(readZoneFile('a A 192.0.2.1', { origin, defaultTtl: 60 }).records).toMatchObject([
      { ttlSeconds: 60 },
    ])
  })

  it('joins the strings of a text, undoes escapes, keeps what is quoted', () => {
    expect(brief(`${start}t TXT "a;b (c" "\\"d\\\\" e\\032f "\\196\\145" ; note`).at(-1)).toBe(
      't.example.com 3600 TXT a;b (c"d\\e fđ',
    )
  })

  it('makes names absolute: @, $ORIGIN, other scripts, escapes', () => {
    expect(
      brief(
        '$TTL 60\n@ A 192.0.2.1\n$ORIGIN sub\nwww CNAME @\n$ORIGIN sub.example.com.\n_x.Y ' +
          'CNAME Z.Example.NET.\nchào CNAME a\\.b',
      ).map((line) => line.replace(' 60', '')),
    ).toEqual([
      'example.com A 192.0.2.1',
      'www.sub.example.com CNAME sub.example.com',
      '_x.y.sub.example.com CNAME z.example.net',
      'xn--cho-bla.sub.example.com CNAME a\\.b.sub.example.com',
    ])
  })

  it.each([
    ['www A 192.0.2.999', "3:7 '192.0.2.999' is not an IPv4 address."],
    ['www A 192.0.2.01', "3:7 '192.0.2.01' is not an IPv4 address."],
    ['www AAAA fe80::1%eth0', "3:10 'fe80::1%eth0' is not an IPv6 address."],
    ['www A', '3:5 The address is missing.'],
    ['www A 192.0.2.1 192.0.2.2', "3:17 '192.0.2.2' is more than this line may have."],
    ['www MX mail', "3:8 'mail' is not a whole number from 0 to 65535."],
    ['www MX 65536 mail', "3:8 '65536' is not a whole number from 0 to 65535."],
    ['www CNAME a..b', "3:11 The name 'a..b' has an empty part between dots."],
    [`www CNAME ${'a'.repeat(64)}`, /^3:11 The name .* longer than 63 bytes/],
    [`${'a.'.repeat(125)}b A 192.0.2.1`, /^3:1 The name .* longer than 255 bytes/],
    ['www CNAME "a"', '3:11 Quotation marks are only for the text of TXT records.'],
    ['t TXT "open\n', '3:7 A quotation mark is opened but not closed on this line.'],
    [
      't TXT a\\9b',
      "3:7 'a\\9b' has a bad escape: write \\ and a character, or \\ and three digits from " +
        '000 to 255.',
    ],
    [`t TXT ${'x'.repeat(256)}`, /^3:7 One string has 256 bytes/],
    ['t TXT "\\255"', '3:undefined The text is not valid UTF-8.'],
    ['t TXT', '3:3 The text is missing.'],
    ['t TXT ( "a"\n"b"', '3:7 The parenthesis opened here is never closed.'],
    ['t TXT "a" )', '3:11 This closing parenthesis was never opened.'],
    ['s SRV 1 2 3 host', /^3:3 Records of type SRV are not supported/],
    ['s TYPE65400 \\# 0', /^3:3 Records of type TYPE65400 are not supported/],
    ['s TYPE1 \\# 4 01020304', /^3:9 Data in the generic form/],
    ['s AA 192.0.2.1', "3:3 'AA' is not a record type."],
    ['s CH A 192.0.2.1', "3:3 Only the class IN is supported, not 'CH'."],
    ['s', '3:1 The record has no type.'],
    ['s 4294967296 A 192.0.2.1', /^3:3 '4294967296' is not a time/],
    ['www.other.example. A 192.0.2.1', /^3:1 'www.other.example' does not belong to example.com/],
    ['www\\.example.com. A 192.0.2.1', /^3:1 .* does not belong to example.com/],
    ['$INCLUDE /etc/passwd', '3:1 $INCLUDE is not supported: paste the content of that file here.'],
    [
      '$GENERATE 1-9999999 a$ A 192.0.2.1',
      '3:1 $GENERATE is not supported: write the records out.',
    ],
    ['$DATE 2026', "3:1 '$DATE' is not a known directive; $ORIGIN and $TTL are."],
    ['$TTL soon', /^3:6 'soon' is not a time/],
    ['$ORIGIN', '3:1 The name is missing.'],
  ])('says what is wrong with %j', (line, said) => {
    const all = faults(start + line)
    expect(all).toHaveLength(1)
    if (typeof said === 'string') expect(all[0]).toBe(said)
    else expect(all[0]).toMatch(said)
    expect(read(start + line).errors[0]?.message.vi).toMatch(/\S/)
  })

  it('goes on behind a fault, and lends the name of a bad line to nobody', () => {
    expect(faults(`${start}a A x\n  A y\nb..c A 192.0.2.1\n  A 192.0.2.2\nd A 192.0.2.3`)).toEqual([
      "3:5 'x' is not an IPv4 address.",
      "4:5 'y' is not an IPv4 address.",
      "5:1 The name 'b..c' has an empty part between dots.",
      '6:3 The first record must begin with its name; this line begins with a space.',
    ])
    expect(brief(`${start}b..c A 192.0.2.1\nd A 192.0.2.3`).at(-1)).toBe(
      'd.example.com 3600 A 192.0.2.3',
    )
  })

  it('has an end: 1 MB, 10 000 records, 100 errors', () => {
    expect(faults(`; ${'x'.repeat(zoneFileLimits.bytes)}`)).toEqual([
      '1:undefined The zone file is larger than 1048576 bytes.',
    ])
    const many = read(start + 'a A 192.0.2.1\n'.repeat(10_001))
    expect([many.records.length, many.errors.length, many.errors[0]?.line]).toEqual([
      10_000, 1, 10_002,
    ])
    expect(read('x A y\n'.repeat(5000)).errors).toHaveLength(101)
    for (const text of [
      '('.repeat(1_000_000),
      '"'.repeat(1_000_000),
      '\\'.repeat(1_000_000),
      ' \n'.repeat(500_000),
      `a TXT ${'\\1'.repeat(500_000)}`,
      `${'a.'.repeat(500_000)} A 1`,
    ])
      read(text)
  })

  it('reads what 500 generated files mean, record by record', () => {
    for (let seed = 0; seed < 500; seed++) {
      const zone = generateZoneFile(seed)
      const { records, errors } = readZoneFile(zone.text, { origin: zone.origin })
      expect(errors).toEqual([])
      expect(
        records.map((record) => {
          let data
          if (record.type === 'TXT') data = Buffer.from(record.data).toString('hex')
          else if (record.type === 'MX') data = `${record.priority} ${record.data}`
          else data = record.data

          return `${record.name} ${record.ttlSeconds} ${record.type} ${data}`
        }),
      ).toEqual(zone.records)
    }
  })

  it('never fails on any text, and places every fault in it', () => {
    const check = (text: string): void => {
      const lines = text.split(/\r\n?|\n/).length
      for (const { line } of read(text).errors) expect(line >= 1 && line <= lines).toBe(true)
    }
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ab.@$();"\\1 \t\n\r-đ'), maxLength: 80 }),
        check,
      ),
    )
    fc.assert(fc.property(fc.string({ unit: 'binary' }), check))
    for (let seed = 0; seed < 300; seed++) check(mutate(generateZoneFile(seed).text, seed))
  })
})

const label = fc.stringMatching(/^[a-z0-9_]([a-z0-9-]{0,20}[a-z0-9])?$/)
const owner = fc.array(label, { maxLength: 3 }).map((labels) => [...labels, origin].join('.'))
const target = fc.oneof(
  owner,
  fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
)
const record: fc.Arbitrary<ZoneRecord> = fc
  .record({ name: owner, ttlSeconds: fc.integer({ min: 30, max: 86_400 }) })
  .chain((head) =>
    fc
      .oneof(
        fc.ipV4().map((data) => ({ type: 'A' as const, data })),
        fc.ipV6().map((data) => ({
          type: 'AAAA' as const,
          data: new URL(`http://[${data}]`).hostname.slice(1, -1),
        })),
        fc
          .tuple(fc.constantFrom('CNAME' as const, 'NS' as const), target)
          .map(([type, data]) => ({ type, data })),
        fc
          .tuple(fc.nat({ max: 65_535 }), target)
          .map(([priority, data]) => ({ type: 'MX' as const, priority, data })),
        fc
          .string({ unit: 'grapheme', maxLength: 700 })
          .map((data) => ({ type: 'TXT' as const, data: data.toWellFormed() })),
      )
      .map((data) => ({ ...head, ...data })),
  )

describe('writing', () => {
  it('writes a file that a person can read', () => {
    expect(
      writeZoneFile({
        origin,
        soa,
        records: [
          { name: 'www.example.com', ttlSeconds: 300, type: 'A', data: '192.0.2.1' },
          { name: 'example.com', ttlSeconds: 3600, type: 'NS', data: 'ns1.portal.example' },
          {
            name: 'example.com',
            ttlSeconds: 60,
            type: 'MX',
            priority: 10,
            data: 'mail.example.com',
          },
          { name: 'example.com', ttlSeconds: 60, type: 'TXT', data: `đ "q" \\ ${'x'.repeat(255)}` },
        ],
      }),
    ).toBe(`$ORIGIN example.com.
$TTL 3600
@   3600 IN SOA   ns1.portal.example. hostmaster.portal.example. ( 7 7200 900 1209600 300 )
@   3600 IN NS    ns1.portal.example.
@     60 IN MX    10 mail.example.com.
@     60 IN TXT   "\\196\\145 \\"q\\" \\\\ ${'x'.repeat(246)}" "${'x'.repeat(9)}"
www  300 IN A     192.0.2.1
`)
  })

  it('is read back as it was, in whatever order it came', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 40 }), (records) => {
        // one TTL per set, as the portal stores it
        const ttl = new Map<string, number>()
        const zone = records.map((one) => {
          const set = `${one.type} ${one.name}`
          ttl.set(set, ttl.get(set) ?? one.ttlSeconds)
          return { ...one, ttlSeconds: ttl.get(set) as number }
        })
        const text = writeZoneFile({ origin, soa, records: zone })
        expect(writeZoneFile({ origin, soa, records: zone.toReversed() })).toBe(text)
        const back = read(text)
        expect(back.errors).toEqual([])
        const plain = (list: readonly ZoneRecord[]): string[] =>
          list
            .map((one) => {
              const known = { ...one, line: 0, writtenTtlSeconds: one.ttlSeconds }
              return JSON.stringify(known, Object.keys(known).toSorted())
            })
            .toSorted()
        expect(plain(back.records.slice(1))).toEqual(plain(zone))
        expect(back.records[0]).toMatchObject({
          type: 'SOA',
          ttlSeconds: soa.ttlSeconds,
          soa: { serial: 7, primary: soa.primary, minimumSeconds: 300 },
        })
      }),
      { numRuns: 200 },
    )
  })
})
