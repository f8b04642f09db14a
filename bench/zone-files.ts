/**
 * `npm run bench -- zone-files`: our reader of zone files against BIND's named-compilezone, on
 * generated files, on files in the styles of those that panels, registrars and name servers write
 * (bench/fixtures/zones), on those of a folder that ZONES names (`anything--origin.zone`: what
 * others have written is not ours to hand on, so none are here), on all of them damaged, and our
 * writer read by BIND. Counts what they agree on, and why they differ where they do. FILES, MUTATED
 * and REAL (damaged ones of the files found) set the counts, SEED the start.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readZoneFile, writeZoneFile, type ZoneFileRecord } from '../server/dns/zone-file/index.ts'
import { recordTypes } from '../server/dns/zone-file/record.ts'
import { generateZoneFile, mutate } from '../test/zone-files.ts'

const files = Number(process.env['FILES'] ?? 10_000)
const mutated = Number(process.env['MUTATED'] ?? 5000)
const real = Number(process.env['REAL'] ?? 5000)
const seed = Number(process.env['SEED'] ?? 1)
const show = Number(process.env['SHOW'] ?? 3)

if (spawnSync('named-compilezone', ['-v']).error) {
  console.log('named-compilezone is not installed (Debian: bind9-utils). Nothing compared.')
  process.exit(0)
}
const folder = mkdtempSync(path.join(tmpdir(), 'zone-files-'))
const file = path.join(folder, 'zone')

// Only the content of the text is compared; BIND's checks of a valid zone are switched off.
const options = [
  '-k',
  'ignore',
  '-i',
  'none',
  '-n',
  'ignore',
  '-m',
  'ignore',
  '-M',
  'ignore',
  '-S',
  'ignore',
  '-T',
  'ignore',
  '-r',
  'ignore',
]

const bytesOf = (written: string): Buffer =>
  Buffer.concat(
    [...written.matchAll(/"((?:[^"\\]|\\[0-9]{3}|\\[^0-9])*)"/gs)].flatMap(([, string]) =>
      [...(string ?? '').matchAll(/\\([0-9]{3})|\\(.)|([^\\])/gs)].map(([, code, escaped, plain]) =>
        code === undefined
          ? Buffer.from(escaped ?? plain ?? '', 'latin1')
          : Buffer.of(Number(code)),
      ),
    ),
  )
const dotless = (name: string): string => name.toLowerCase().replace(/(?<!\\)\.$/, '')

/**
 * Sorted `name ttl type data` as in GeneratedZoneFile; undefined, with the reason, when BIND
 * refuses the file.
 */
function bind(text: string, origin: string): { records: string[] | undefined; says: string } {
  writeFileSync(file, text)
  const run = spawnSync('named-compilezone', [...options, '-s', 'full', '-o', '-', origin, file], {
    encoding: 'latin1',
    maxBuffer: 1 << 26,
  })
  const says = run.stderr.replaceAll(file, 'zone')
  if (run.status !== 0) return { records: undefined, says }
  const records = run.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', ttl, type = '', data = ''] =
        /^(\S+)\s+(\d+)\s+IN\s+(\S+)\s+(.*)$/s.exec(line) ?? []
      return `${dotless(name)} ${ttl} ${type} ${canonical(type, data)}`
    })
  return { records: records.toSorted(), says }
}
function canonical(type: string, data: string): string {
  if (type === 'TXT') return bytesOf(data).toString('hex')
  if (type === 'AAAA') return new URL(`http://[${data}]`).hostname.slice(1, -1)
  if (type === 'CNAME' || type === 'NS' || type === 'MX') return dotless(data)
  return data.toLowerCase()
}
const ours = (records: readonly ZoneFileRecord[]): string[] =>
  [
    ...new Set(
      records.map((record) => {
        let data
        if (record.type === 'TXT') data = Buffer.from(record.data).toString('hex')
        else if (record.type === 'MX') data = `${record.priority} ${record.data}`
        else data = record.data

        return `${record.name} ${record.ttlSeconds} ${record.type} ${data}`
      }),
    ),
  ].toSorted()

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index])

/** Intended differences: BIND's or our message, and the reason. */
const zoneRules = new RegExp(
  [
    /has no address records|is a CNAME \(illegal\)|invalid NS owner name \(wildcard\)/,
    /CNAME and other data|has no NS records|has \d+ SOA records|multiple RRs of singleton/,
    /no current owner name, using|SOA record not at top of zone|not at top|has no SOA/,
  ]
    .map(({ source }) => source)
    .join('|'),
)
const ourRules: readonly [RegExp, string][] = [
  [
    /does not belong to/,
    'a name outside the zone: BIND drops the record with a warning, we refuse',
  ],
  [/not valid UTF-8/, 'text that is no UTF-8: the portal keeps text'],
  [/(is|are) not supported/, 'a type, class or directive that the portal does not keep'],
  [/^'\$DATE' is not a known/, '$DATE, which only BIND knows'],
  [/^Reading stopped after/, 'so many lines that the portal does not keep that it stops reading'],
  [/is not a time/, 'a TTL above 2147483647: BIND takes it as 0, we refuse'],
  [/must begin with its name/, 'no owner yet: BIND takes the origin with a warning, we refuse'],
  [
    /quotation mark is opened but not closed/,
    'a line that ends behind a backslash inside quotation marks: BIND goes on in the next line',
  ],
  [/is not a domain name/, 'bytes that are no name in any script'],
  [
    /Quotation marks are only/,
    'quotation marks around a name: BIND takes them, RFC 1035 knows them for strings only',
  ],
]

/** The records that BIND read, limited to the types that the portal keeps. */
const keptOf = (records: readonly string[]): string[] =>
  records.filter((record) =>
    (recordTypes as readonly string[]).includes(/^\S+ \d+ (\S+)/.exec(record)?.[1] ?? ''),
  )
const notKept = /^Records of type \S+ are not supported/

/**
 * Whether the file gives one set several TTLs. Each record is read alone, so that the first one's
 * TTL is not applied to the others.
 */
function mixedTtls(text: string, origin: string): boolean {
  const says = bind(text, origin).says
  if (says.includes('TTL set to prior TTL')) return true
  const { records } = readZoneFile(text, { origin })
  const lines = new Map<string, number[]>()
  for (const { type, name, line } of records)
    lines.set(`${type} ${name}`, [...(lines.get(`${type} ${name}`) ?? []), line])
  return [...lines.values()].some((of) => of.length > 1)
}

const counts = new Map<string, number>()
const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
const unexplained: string[] = []

const withoutTtl = (records: readonly string[]): string[] =>
  [...new Set(records.map((record) => record.replace(/ \d+ /, ' ')))].toSorted()
function differenceOf(ours: readonly string[], theirs: readonly string[], says: string): string {
  const only = (of: readonly string[], others: readonly string[]): string =>
    of
      .filter((record) => !others.includes(record))
      .slice(0, 3)
      .join(' | ')
  return `content ${only(ours, theirs)} <> ${only(theirs, ours)}\n${says}`
}

function compare(text: string, origin: string, what: string, from = what): void {
  const read = readZoneFile(text, { origin })
  const bound = bind(text, origin)
  if (read.errors.length === 0 && bound.records) {
    if (same(ours(read.records), bound.records)) return count(`${what}: both accept, same content`)
    if (
      same(withoutTtl(ours(read.records)), withoutTtl(bound.records)) &&
      mixedTtls(text, origin)
    ) {
      return count(`${what}: both accept – two TTLs in one set: BIND takes the last, we the first`)
    }
    count(`${what}: CONTENT DIFFERS`)
    unexplained.push(`${from}: ` + differenceOf(ours(read.records), bound.records, bound.says))
  } else if (read.errors.length > 0 && !bound.records) count(`${what}: both refuse`)
  else if (bound.records) {
    // A line with a type that the portal does not keep must not change how the others are read.
    if (read.errors.every(({ message }) => notKept.test(message.en))) {
      const [mine, theirs] = [ours(read.records), keptOf(bound.records)]
      if (same(mine, theirs))
        return count(
          `${what}: both accept what the portal keeps, same content; we name the types that ` +
            'it does not',
        )
      if (same(withoutTtl(mine), withoutTtl(theirs)) && mixedTtls(text, origin))
        return count(
          `${what}: both accept what the portal keeps – two TTLs in one set: BIND takes the ` +
            'last, we the first',
        )
      count(`${what}: CONTENT DIFFERS, types that the portal does not keep left out`)
      unexplained.push(`${from}: ` + differenceOf(mine, theirs, bound.says))
      return
    }
    const reasons = read.errors.map(
      ({ message }) => ourRules.find(([rule]) => rule.test(message.en))?.[1],
    )
    const [reason] = reasons
    // After an open quotation mark the next line is misread.
    if (reason && (reasons.every(Boolean) || reason.startsWith('a line that ends')))
      return count(`${what}: only we refuse – ${reason}`)
    count(`${what}: ONLY WE REFUSE`)
    unexplained.push(
      `${from}: we refuse: ` +
        `${read.errors.map(({ line, message }) => `${line} ${message.en}`).join('; ')}\n` +
        `${bound.says}\n${text.split('\n')[(read.errors[0]?.line ?? 1) - 1]}`,
    )
  } else {
    const why = bound.says.split('\n').filter((line) => /zone|dns_/.test(line))
    if (zoneRules.test(bound.says))
      return count(
        `${what}: only BIND refuses – a rule about the whole zone, ours are in the record rules`,
      )
    if (bound.says.includes('extra input text') && /(?:^|\n)\$\S+[^\n]+$/.test(text))
      return count(`${what}: only BIND refuses – a directive on a last line without an end`)
    count(`${what}: ONLY BIND REFUSES`)
    const line = Number(/zone:(\d+): (?!file|using|no TTL|TTL)/.exec(bound.says)?.[1] ?? 1)
    unexplained.push(
      `${from}: BIND refuses: ${why.join('\n')}\n` +
        `${JSON.stringify(text.split('\n').slice(Math.max(0, line - 3), line + 1))}`,
    )
  }
}

for (let index = 0; index < files; index++) {
  const zone = generateZoneFile(seed + index)
  const read = readZoneFile(zone.text, { origin: zone.origin })
  if (!same(ours(read.records), [...new Set(zone.records)].toSorted()))
    count('generated: WE READ WHAT WAS NOT WRITTEN')
  compare(zone.text, zone.origin, 'generated')
  const start = read.records.find(({ type }) => type === 'SOA')
  if (start?.type !== 'SOA') throw new Error('a generated file has an SOA')
  // For every tenth file, BIND reads what we write.
  if (index % 10 === 0) {
    const written = writeZoneFile({
      origin: zone.origin,
      soa: { ...start.soa, ttlSeconds: start.ttlSeconds },
      records: read.records,
    })
    const back = bind(written, zone.origin).records
    count(
      back && same(back, ours(read.records))
        ? 'written by us: BIND reads the same'
        : 'written by us: BIND READS OTHERWISE',
    )
  }
}
for (let index = 0; index < mutated; index++) {
  const zone = generateZoneFile(seed + index)
  compare(mutate(zone.text, seed + index), zone.origin, 'mutated')
}
/** File names are `style--origin.zone`. */
const filesIn = (folder: string): { origin: string; text: string; name: string }[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.zone'))
    .toSorted()
    .map((name) => ({
      origin: name.replace(/^.*?--/, '').replace(/\.zone$/, ''),
      text: readFileSync(path.join(folder, name), 'utf8'),
      name,
    }))
const fixtures = filesIn(path.join(import.meta.dirname, 'fixtures/zones'))
const gathered = process.env['ZONES'] === undefined ? [] : filesIn(process.env['ZONES'])
for (const { text, origin, name } of fixtures)
  compare(text, origin, 'in the styles of real ones', name)
for (const { text, origin, name } of gathered) compare(text, origin, 'real', name)
// Only valid files are damaged: BIND's own tests have many files that it must refuse.
const found = [...fixtures, ...gathered].filter(
  ({ text, origin }) => bind(text, origin).records !== undefined,
)
for (let index = 0; index < real; index++) {
  const one = found[index % found.length]
  if (one)
    compare(
      mutate(one.text, seed + index),
      one.origin,
      `${gathered.length > 0 ? 'real' : 'in their styles'}, mutated`,
      one.name,
    )
}
rmSync(folder, { recursive: true })

for (const [what, number] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${String(number).padStart(7)}  ${what}`)
console.log(
  unexplained.length === 0
    ? 'Every difference is one of the kinds above.'
    : `${unexplained.length} differences without a known reason:`,
)
for (const line of unexplained.slice(0, show)) console.log(`--\n${line}`)
process.exit(unexplained.length === 0 ? 0 : 1)
