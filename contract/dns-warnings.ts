/**
 * Warnings about records that are allowed but probably a mistake. The server returns them with the
 * record that it wrote, and the record list shows them for all records, by the same function and
 * without a DNS query.
 */
import type { RecordValue } from './dns-records.ts'
import type { Language } from './errors.ts'

const texts = {
  occluded: {
    en: 'This name is delegated by NS records, so visitors never see this record.',
    vi: 'Tên này đã được uỷ quyền bằng bản ghi NS nên khách truy cập không thấy bản ghi này.',
  },
  spf_twice: {
    en: 'This name has more than one SPF record, so mail servers ignore all of them. Merge them.',
    vi: 'Tên này có nhiều hơn một bản ghi SPF nên máy chủ thư bỏ qua tất cả. Hãy gộp chúng lại.',
  },
  spf_lookups: {
    en: 'This SPF record needs more than 10 DNS lookups, so mail servers reject it.',
    vi: 'Bản ghi SPF này cần hơn 10 lượt tra cứu DNS nên máy chủ thư sẽ từ chối.',
  },
  private_address: {
    en: 'This is a private address. Nobody on the internet can reach it.',
    vi: 'Đây là địa chỉ nội bộ. Không ai trên Internet truy cập được.',
  },
  mail_host_missing: {
    en: 'The mail server has no A or AAAA record in this domain, so no mail arrives.',
    vi: 'Máy chủ thư chưa có bản ghi A hoặc AAAA trong tên miền này nên thư không đến được.',
  },
  mail_host_alias: {
    en: 'The mail server is a CNAME. Some servers then deliver no mail: use its own name.',
    vi: 'Máy chủ thư đang là CNAME. Một số máy chủ sẽ không gửi thư tới: hãy dùng tên gốc.',
  },
} as const
export type RecordWarning = keyof typeof texts

/** The sentence of a warning. */
export const recordWarningText = (warning: RecordWarning, language: Language): string =>
  texts[warning][language]

/** Most mechanisms of an SPF record that ask the DNS (RFC 7208, section 4.6.4). */
const spfLookupLimit = 10
const spfLookups = /(?:^|\s)[+?~-]?(?:include:|exists:|redirect=|(?:a|mx|ptr)(?=[:/\s]|$))/gi
const isSpf = (record: RecordValue): boolean =>
  record.type === 'TXT' && /^v=spf1(\s|$)/i.test(record.content)

/** Private use, loopback, link-local, shared and unique local addresses (RFC 6890). */
const privateIpv4 = new RegExp(
  [
    /^(?:10|127|0|169\.254|192\.168)\./,
    /^172\.(?:1[6-9]|2\d|3[01])\./,
    /^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
  ]
    .map(({ source }) => source)
    .join('|'),
)
const privateIpv6 = /^(?:::1?$|(?:f[cd][\da-f]{2}|fe[89ab][\da-f]):)/

/**
 * The parent names of a relative name, nearest first: a.b for x.a.b. The domain itself is left out.
 */
function namesAbove(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'))
}

/**
 * The names of the domain that a record's warnings depend on, so that a caller can read only those.
 */
export function namesThatMatter(record: RecordValue, zone: string): string[] {
  const target = record.type === 'MX' ? within(record.content, zone) : undefined
  const names = [record.name, ...namesAbove(record.name)]
  if (target === undefined) return names
  return [...names, target, ...namesAbove(target).map((above) => `*.${above}`), '*']
}

/** `@` or the relative name of a host of this domain; undefined for a host elsewhere. */
function within(host: string, zone: string): string | undefined {
  if (host === zone) return '@'
  return host.endsWith(`.${zone}`) ? host.slice(0, -zone.length - 1) : undefined
}

/**
 * Finds warnings of records of one domain (`zone`, A-labels); `all` are its records, or at least
 * those that matter.
 */
export function warningsOf(
  all: readonly RecordValue[],
  zone: string,
): (record: RecordValue) => RecordWarning[] {
  const byName = Map.groupBy(all, ({ name }) => name)
  const has = (name: string, types: readonly string[]): boolean =>
    byName.get(name)?.some(({ type }) => types.includes(type)) === true
  /**
   * The name that answers for this one: itself where it exists, else the nearest wildcard above it.
   */
  const source = (name: string): string =>
    byName.has(name)
      ? name
      : ([...namesAbove(name).map((above) => `*.${above}`), '*'].find((one) => byName.has(one)) ??
        name)
  return (record) => {
    const found: RecordWarning[] = []
    const cuts = [record.name, ...namesAbove(record.name)].filter((name) => name !== '@')
    if (
      cuts.some(
        (name) =>
          has(name, ['NS']) && !(name === record.name && ['NS', 'A', 'AAAA'].includes(record.type)),
      )
    )
      found.push('occluded')
    if (isSpf(record)) {
      if ((byName.get(record.name) ?? []).filter(isSpf).length > 1) found.push('spf_twice')
      if ((record.content.match(spfLookups)?.length ?? 0) > spfLookupLimit)
        found.push('spf_lookups')
    }
    if (
      (record.type === 'A' && privateIpv4.test(record.content)) ||
      (record.type === 'AAAA' && privateIpv6.test(record.content))
    )
      found.push('private_address')
    const target = record.type === 'MX' ? within(record.content, zone) : undefined
    if (target !== undefined) {
      const answering = source(target)
      if (has(answering, ['CNAME'])) found.push('mail_host_alias')
      else if (!has(answering, ['A', 'AAAA'])) found.push('mail_host_missing')
    }
    return found
  }
}
