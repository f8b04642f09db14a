import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RecordValue } from './dns-records.ts'
import { recordTypes } from './dns-types.ts'
import { namesThatMatter, recordWarningText, warningsOf } from './dns-warnings.ts'

const zone = 'shop.vn'
const record = (name: string, type: RecordValue['type'], content: string): RecordValue => ({
  name,
  type,
  content,
  ttl: 300,
  proxied: false,
  priority: type === 'MX' ? 10 : null,
})
/** The warnings for the first record, with the others beside it. */
const of = (first: RecordValue, ...others: RecordValue[]) =>
  warningsOf([first, ...others], zone)(first)

describe('a record is warned of', () => {
  test('that stands below a delegation, but not its glue', () => {
    const cut = record('dele', 'NS', 'ns.dele.shop.vn')
    expect(of(record('a.dele', 'A', '203.0.113.7'), cut)).toEqual(['occluded'])
    expect(of(record('dele', 'TXT', 'x'), cut)).toEqual(['occluded'])
    expect(of(record('dele', 'A', '203.0.113.7'), cut)).toEqual([])
    expect(of(cut)).toEqual([])
    expect(of(record('adele', 'A', '203.0.113.7'), cut)).toEqual([])
  })

  test('that is one of two SPF records, or asks the DNS too often', () => {
    const spf = record('@', 'TXT', 'v=spf1 include:_spf.example.com ~all')
    expect(of(spf)).toEqual([])
    expect(of(spf, record('www', 'TXT', 'v=spf1 -all'))).toEqual([])
    expect(of(spf, record('@', 'TXT', 'v=spf1 -all'))).toEqual(['spf_twice'])
    const many =
      `v=spf1 a mx ptr ${Array.from({ length: 8 }, (_, n) => `include:${n}.example`).join(' ')} ` +
      '-all'
    expect(of(record('@', 'TXT', many))).toEqual(['spf_lookups'])
    expect(of(record('@', 'TXT', 'v=spf1 ip4:203.0.113.0/24 -all'))).toEqual([])
  })

  test.each(['10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '127.0.0.1', '169.254.1.1'])(
    'that names the private address %s',
    (address) => expect(of(record('www', 'A', address))).toEqual(['private_address']),
  )
  test.each(['11.1.2.3', '172.32.0.1', '100.128.0.1', '203.0.113.7'])(
    'but not for the public address %s',
    (address) => expect(of(record('www', 'A', address))).toEqual([]),
  )

  test('whose mail server has no address here, or is an alias', () => {
    const mx = record('@', 'MX', 'mail.shop.vn')
    expect(of(mx)).toEqual(['mail_host_missing'])
    expect(of(mx, record('mail', 'AAAA', '2a00::1'))).toEqual([])
    expect(of(mx, record('*', 'A', '203.0.113.7'))).toEqual([])
    expect(of(mx, record('mail', 'CNAME', 'host.example'))).toEqual(['mail_host_alias'])
    expect(of(record('@', 'MX', 'mail.elsewhere.com'))).toEqual([])
    expect(of(record('@', 'MX', '.'))).toEqual([])
  })
})

test('only the names that matter decide', () => {
  const label = fc.constantFrom('a', 'b', 'mail', '*')
  const name = fc
    .array(label, { minLength: 1, maxLength: 3 })
    .map((labels) => labels.join('.'))
    .chain((one) => fc.constantFrom(one, '@'))
  const mailHost = (host: string): string => (host === '@' ? zone : `${host}.${zone}`)
  const any = fc
    .record({ name, type: fc.constantFrom(...recordTypes), host: name })
    .map(({ name: at, type, host }) =>
      record(at, type, type === 'MX' ? mailHost(host) : 'v=spf1 a'),
    )
  fc.assert(
    fc.property(fc.array(any, { minLength: 1, maxLength: 12 }), (records) => {
      const [first] = records
      if (!first) return
      const names = new Set(namesThatMatter(first, zone))
      const few = records.filter((one) => names.has(one.name))
      const warnings = warningsOf(records, zone)(first)
      expect(warningsOf(few, zone)(first)).toEqual(warnings)
      for (const warning of warnings)
        for (const language of ['en', 'vi'] as const)
          expect(recordWarningText(warning, language)).toMatch(/\.$/)
    }),
  )
})
