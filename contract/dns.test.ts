import { domainToASCII, domainToUnicode } from 'node:url'
import * as fc from 'fast-check'
import * as z from 'zod/mini'
import { describe, expect, test } from 'vitest'
import * as dns from './dns.ts'
import { hasBrokenLabel, unicodeName } from './dns-idn.ts'
import { asTyped, quoteText, readQuoted } from './dns-text.ts'
import {
  canonicalIpv6,
  checkNeighbours,
  readRecord,
  recordTypes,
  toAscii,
  type RecordDraft,
  type RecordValue,
} from './dns-records.ts'

const plain = { proxied: false, apexFlattening: false }
const zone = 'example.vn'
const draft = (over: Partial<RecordDraft>): RecordDraft => ({
  name: 'www',
  type: 'A',
  content: '203.0.113.7',
  ttl: 300,
  ...over,
})
const read = (over: Partial<RecordDraft>) => readRecord(draft(over), zone, plain)
const faultsOf = (over: Partial<RecordDraft>) => {
  const answer = read(over)
  return 'faults' in answer ? answer.faults : {}
}
const kept = (over: Partial<RecordDraft>): RecordValue => {
  const answer = read(over)
  if ('faults' in answer) throw new Error(JSON.stringify(answer.faults))
  return answer.record
}

test("portal.md's payload is taken as it stands", () => {
  const body = {
    id: 'd',
    name: '@',
    type: 'A',
    content: '203.0.113.7',
    ttl: 300,
    proxied: true,
    priority: 1,
  }
  expect(z.safeParse(dns.addRecord.body, body).success).toBe(true)
  expect(z.safeParse(dns.addRecord.body, { ...body, colour: 'red' }).success).toBe(false)
})

describe('names', () => {
  test.each([
    ['@', '@'],
    ['WWW', 'www'],
    ['example.vn', '@'],
    ['www.example.vn.', 'www'],
    ['*.shop', '*.shop'],
    ['*', '*'],
    ['chào', 'xn--cho-bla'],
  ])('%s is kept as %s', (typed, name) => expect(kept({ name: typed }).name).toBe(name))
  test.each([
    '',
    ' ',
    'a..b',
    '-a',
    'a-',
    'a b',
    'x.*',
    'www.other.vn.',
    'a'.repeat(64),
    `${'a.'.repeat(125)}a`,
    'a/b',
    '_a',
    'a@b',
  ])('%j is none for an address', (name) => expect(faultsOf({ name })).toHaveProperty('name'))
  test('service labels are for TXT, CNAME and NS', () => {
    expect(kept({ name: '_dmarc', type: 'TXT', content: 'v=DMARC1; p=none' }).name).toBe('_dmarc')
    expect(
      kept({ name: 'k1._domainkey', type: 'CNAME', content: '_dkim.mail.example.' }).content,
    ).toBe('_dkim.mail.example')
    expect(faultsOf({ name: '_x', type: 'MX', content: 'mail.example.vn' })).toHaveProperty('name')
  })
  test('each label becomes an A-label of its own', () => {
    expect(toAscii('*.CHÀO.vn')).toBe('*.xn--cho-bla.vn')
    expect(toAscii('exa%6dple.com')).toBe('exa%6dple.com')
    expect(toAscii('ch%C3%A0o é')).toBeUndefined()
  })
})

describe('A-labels', () => {
  test.each([
    'xn--cho-bla',
    'xn--strae-oqa',
    'xn--80ak6aa92e',
    'xn--fiqs8s',
    'xn--ls8h',
    'ab--cd',
    'xn-x',
  ])('%s stands', (label) => {
    expect(hasBrokenLabel(`${label}.vn`)).toBe(false)
    expect(kept({ name: `*.${label}` }).name).toBe(`*.${label}`)
  })
  test.each([
    'xn--a',
    'xn--',
    'xn--zzzz99999',
    'xn--abc-',
    'xn--cho-bla-',
    'xn--a-ecp',
    'xn--99999999',
    'xn--CHO-9',
    'xn---',
  ])('%s stands for nothing', (label) => {
    expect(faultsOf({ name: `www.${label}` })).toEqual({
      name: label.endsWith('-') ? expect.stringMatching(/^(a_label|record_name)$/) : 'a_label',
    })
    for (const type of ['CNAME', 'MX', 'NS'] as const)
      expect(faultsOf({ type, content: `${label}.example.com` })).toHaveProperty('content')
  })
  test('decoded as Node decodes them', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'aợđéß漢字ابжя-7'), minLength: 1, maxLength: 12 }),
        (label) => {
          const ascii = domainToASCII(label)
          if (ascii === '' || !ascii.startsWith('xn--') || ascii.length > 63) return
          expect(unicodeName(`www.${ascii}`)).toBe(`www.${domainToUnicode(ascii)}`)
          expect(hasBrokenLabel(ascii)).toBe(false)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('content by type', () => {
  test.each([
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '256.1.1.1',
    '1.2.3.4/24',
    '0x7f.1',
    'example.com',
    '1.2.3.4.',
    '::1',
    ' ',
  ])('%j is no IPv4 address', (content) =>
    expect(faultsOf({ content })).toEqual({ content: 'record_ipv4' }),
  )
  test.each([
    '1.2.3.4',
    'fe80::1%eth0',
    ':::',
    '2001:db8::1::2',
    '[::1]',
    'g::1',
    '1:2:3:4:5:6:7',
    '',
  ])('%j is no IPv6 address', (content) =>
    expect(faultsOf({ type: 'AAAA', content })).toEqual({ content: 'record_ipv6' }),
  )
  test('an IPv6 address has one form', () => {
    expect(canonicalIpv6('2001:0DB8:0:0:0:0:0:0001')).toBe('2001:db8::1')
    expect(kept({ type: 'AAAA', content: '2001:db8::1' }).content).toBe('2001:db8::1')
  })
  test.each([
    '192.0.2.1',
    'mail',
    'ma il.example.vn',
    'mail..vn',
    '-m.example.vn',
    '_m.example.vn',
    'http://mail.vn',
    '',
    '.',
  ])('%j is no host for mail or names', (content) => {
    expect(faultsOf({ type: 'MX', content })).toHaveProperty('content')
    expect(faultsOf({ type: 'NS', content })).toHaveProperty('content')
  })
  test('TXT: bytes are counted, control characters refused, the rest kept as typed', () => {
    const content = 'say "hi" \\ xin chào; đ'
    expect(kept({ type: 'TXT', content }).content).toBe(content)
    expect(kept({ type: 'TXT', content: 'đ'.repeat(1024) }).content).toHaveLength(1024)
    expect(faultsOf({ type: 'TXT', content: `${'đ'.repeat(1024)}a` })).toEqual({
      content: 'record_text_length',
    })
    for (const bad of ['a\nb', 'a\tb', 'a\u0000', '\u007f', 'a\u0085b', 'a\ud800'])
      expect(faultsOf({ type: 'TXT', content: bad })).toHaveProperty('content')
  })
  test.each([
    ['"v=spf1 -all"', 'v=spf1 -all'],
    [' "v=DKIM1; k=rsa; " "p=MIG"\t"fAB" ', 'v=DKIM1; k=rsa; p=MIGfAB'],
    ['"a""b"', 'ab'],
    ['""', ''],
    ['"say \\"hi\\" \\\\ \\196\\145 \\;"', 'say "hi" \\ đ ;'],
    [`"${'x'.repeat(400)}"`, 'x'.repeat(400)],
    ['"a" b', '"a" b'],
    ['a "b"', 'a "b"'],
    ['"a', '"a'],
    ['"a\\"', '"a\\"'],
    ['"', '"'],
    ['“a”', '“a”'],
  ])('TXT: %s is taken as %s', (content, text) =>
    expect(kept({ type: 'TXT', content }).content).toBe(text),
  )
  test.each([
    ['"" " "', 'record_text_empty'],
    ['"\\256"', 'record_text_quoted'],
    ['"\\1"', 'record_text_quoted'],
    ['"\\255"', 'record_text_quoted'],
    ['"a\\010b"', 'record_text_control'],
    [`"${'x'.repeat(2049)}"`, 'record_text_length'],
  ])('TXT: %s is refused', (content, fault) =>
    expect(faultsOf({ type: 'TXT', content })).toEqual({ content: fault }),
  )
  test('TXT: any text can be typed so that it is read as itself', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ unit: fc.constantFrom('"', '\\', ' ', 'a', '1', 'đ') }),
    )
    fc.assert(
      fc.property(text, (one) => {
        expect(readQuoted(asTyped(one)) ?? asTyped(one)).toBe(one)
        expect(readQuoted(quoteText(one))).toBe(one)
      }),
      { numRuns: 2000 },
    )
  })
  test.each([29, 86_401, 0, -1, 300.5, Number.NaN, 2 ** 31])('TTL %d is refused', (ttl) =>
    expect(faultsOf({ ttl })).toEqual({ ttl: 'record_ttl' }),
  )
  test('priority: MX only, 0 to 65535, 10 when none is given', () => {
    const mx = { type: 'MX', content: 'mail.example.vn' } as const
    expect(kept(mx).priority).toBe(10)
    expect(kept({ ...mx, priority: 65_535 }).priority).toBe(65_535)
    for (const priority of [-1, 65_536, 1.5])
      expect(faultsOf({ ...mx, priority })).toEqual({ priority: 'record_priority' })
    expect(kept({ priority: 5 }).priority).toBeNull()
    expect(kept({ ...mx, content: '.', priority: 0 }).content).toBe('.')
    expect(faultsOf({ ...mx, content: '.', priority: 10 })).toEqual({ content: 'record_null_mx' })
  })
  test('the apex has no CNAME and no NS of its own', () => {
    expect(faultsOf({ name: '@', type: 'CNAME', content: 'a.example.com' })).toEqual({
      name: 'record_apex_cname',
    })
    expect(faultsOf({ name: '@', type: 'NS', content: 'a.example.com' })).toEqual({
      name: 'record_apex_ns',
    })
    expect(faultsOf({ type: 'CNAME', content: 'www.example.vn' })).toEqual({
      content: 'record_cname_self',
    })
    expect(
      readRecord(draft({ name: '@', type: 'CNAME', content: 'a.example.com' }), zone, {
        ...plain,
        apexFlattening: true,
      }),
    ).toHaveProperty('record')
  })
  test('proxied counts only where type and driver have it', () => {
    const proxied = (type: RecordDraft['type'], content: string, able: boolean) => {
      const answer = readRecord(draft({ type, content, proxied: true }), zone, {
        ...plain,
        proxied: able,
      })
      return 'record' in answer && answer.record.proxied
    }
    expect(proxied('A', '203.0.113.7', true)).toBe(true)
    expect(proxied('A', '203.0.113.7', false)).toBe(false)
    expect(proxied('TXT', 'a', true)).toBe(false)
    expect(proxied('MX', 'mail.example.vn', true)).toBe(false)
  })
})

test('what is kept is kept again, whatever was typed', () => {
  const typed = fc.record({
    name: fc.oneof(
      fc.constantFrom('@', 'www', '*.a', '_x.y', 'example.vn', 'chào'),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
    ),
    type: fc.constantFrom(...recordTypes),
    content: fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.domain(),
      fc.constantFrom('.', '@'),
      fc.string({ unit: 'binary', maxLength: 30 }),
    ),
    ttl: fc.integer({ min: 0, max: 100_000 }),
    priority: fc.option(fc.integer({ min: -1, max: 70_000 })),
  })
  fc.assert(
    fc.property(typed, (one) => {
      const first = readRecord(one, zone, plain)
      if ('faults' in first) {
        expect(Object.keys(first.faults).length).toBeGreaterThan(0)
        return
      }
      const { type, content } = first.record
      expect(
        readRecord(
          { ...first.record, content: type === 'TXT' ? asTyped(content) : content },
          zone,
          plain,
        ),
      ).toEqual(first)
      expect(first.record.name).toMatch(/^(@|[a-z0-9_*.-]+)$/)
    }),
    { numRuns: 2000 },
  )
})

test('neighbours: no duplicate, a CNAME alone, a null MX alone', () => {
  const a = kept({})
  const cname = kept({ type: 'CNAME', content: 'a.example.com' })
  const mx = kept({ type: 'MX', content: 'mail.example.vn' })
  const nullMx = kept({ type: 'MX', content: '.', priority: 0 })
  expect(checkNeighbours(a, [])).toBeUndefined()
  expect(checkNeighbours(a, [kept({ content: '203.0.113.8' }), mx])).toBeUndefined()
  expect(checkNeighbours(a, [a])).toEqual({ content: 'record_duplicate' })
  expect(checkNeighbours(a, [cname])).toEqual({ name: 'record_beside_cname' })
  expect(checkNeighbours(cname, [a])).toEqual({ name: 'record_cname_beside' })
  expect(checkNeighbours(cname, [kept({ type: 'CNAME', content: 'b.example.com' })])).toEqual({
    name: 'record_cname_second',
  })
  expect(checkNeighbours(nullMx, [mx])).toEqual({ content: 'record_null_mx' })
  expect(checkNeighbours(mx, [nullMx])).toEqual({ content: 'record_null_mx' })
})
