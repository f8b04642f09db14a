/**
 * Zone files as people and programs write them, generated from a seed, each with the records it
 * means; and damaged variants.
 */

export interface GeneratedZoneFile {
  readonly origin: string
  readonly text: string
  /**
   * `name ttl type data`, names in lower case without a dot at the end, in the order of the file;
   * for TXT the data in hexadecimal.
   */
  readonly records: readonly string[]
}

/** Mulberry32: the same numbers for the same seed, on every machine; from 0 to below 1. */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

class Dice {
  readonly #next: () => number
  constructor(seed: number) {
    this.#next = numbersFrom(seed)
  }
  /** 0 … below - 1 */
  number(below: number): number {
    return Math.floor(this.#next() * below)
  }
  chance(of: number): boolean {
    return this.#next() < of
  }
  one<T>(list: readonly T[]): T {
    return list[this.number(list.length)] as T
  }
  many<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.number(most + 1) }, make)
  }
}

const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789']

function label(dice: Dice): string {
  const word = Array.from({ length: 1 + dice.number(dice.chance(0.02) ? 62 : 9) }, () =>
    dice.one(letters),
  ).join('')
  return dice.chance(0.1) ? `_${word.slice(0, 60)}` : word
}

/** Random bytes of a text: quoted as in a file, and in hexadecimal. */
function text(dice: Dice, length: number): { quoted: string; hex: string } {
  let quoted = ''
  const bytes: Buffer[] = []
  while (Buffer.concat(bytes).length < length) {
    const kind = dice.number(12)
    const char =
      kind === 0 ? dice.one([...'đờắ€😀é']) : String.fromCharCode(0x20 + dice.number(0x5f))
    const raw = Buffer.from(char)
    if (Buffer.concat(bytes).length + raw.length > length) break
    bytes.push(raw)
    if (char === '"' || char === '\\') quoted += `\\${char}`
    else if (kind === 1) quoted += `\\${String(raw[0]).padStart(3, '0')}`
    else if (kind === 2 && !/[0-9]/.test(char)) quoted += `\\${char}`
    else quoted += char
  }
  return { quoted, hex: Buffer.concat(bytes).toString('hex') }
}

/** Seconds, as a number or in units. */
function time(dice: Dice, seconds: number): string {
  if (dice.chance(0.6)) return String(seconds)
  let rest = seconds
  let written = ''
  for (const [unit, size] of [
    ['w', 604_800],
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) written += `${count}${dice.chance(0.5) ? unit : unit.toUpperCase()}`
  }
  return written === '' ? '0' : written
}

const ipv6 = (dice: Dice): { written: string; data: string } => {
  const groups = Array.from({ length: 8 }, () =>
    dice.chance(0.4) ? '0' : dice.number(65_536).toString(16),
  )
  const data = new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
  const written = dice.chance(0.5) ? groups.join(':') : data
  return { written: dice.chance(0.3) ? written.toUpperCase() : written, data }
}

/** A valid zone file with every style of writing that RFC 1035 and 2308 allow. */
export function generateZoneFile(seed: number): GeneratedZoneFile {
  const dice = new Dice(seed)
  const origin = `${label(dice).replace('_', '')}.${dice.one(['com', 'vn', 'com.vn', 'example'])}`
  const lines: string[] = []
  const records: string[] = []
  const ttls = new Map<string, number>()
  let current = origin
  let defaultTtl: number | undefined
  let lastTtl: number | undefined
  let owner = ''
  const taken = new Set<string>()
  const gap = (): string => dice.one([' ', '  ', '\t', ' \t '])
  const shuffleCase = (word: string): string => (dice.chance(0.2) ? word.toUpperCase() : word)
  const comment = (): string =>
    dice.chance(0.15) ? `${gap()}; ${dice.one(['comment', 'a ( " b', 'đây là ghi chú', ''])}` : ''
  /** A name in one of its spellings under the present origin. */
  const spell = (name: string): string => {
    if (name === current && dice.chance(0.6)) return '@'
    const relative =
      name.endsWith(`.${current}`) && dice.chance(0.7)
        ? name.slice(0, -current.length - 1)
        : `${name}.`
    return shuffleCase(
      dice.chance(0.05)
        ? relative.replace(/^[a-z]/, (char) => `\\${String(char.charCodeAt(0)).padStart(3, '0')}`)
        : relative,
    )
  }
  /** Joins the words of the data, sometimes in parentheses over several lines. */
  const join = (words: readonly string[]): string => {
    if (dice.chance(0.85)) return words.join(gap())
    return (
      `(${dice.one(['', ' ', '\n', ` ; note\n`])}` +
      `${words.join(dice.one([' ', '\n', '\n\t', ' ; more\n ']))}${dice.one(['', ' ', '\n'])})`
    )
  }
  const add = (name: string, type: string, words: readonly string[], data: string): void => {
    const set = `${type} ${name}`
    const known = ttls.get(set)
    const implied = defaultTtl ?? lastTtl
    // A set has one TTL (RFC 2181, 5.2).
    const explicit =
      implied === undefined || (known !== undefined && known !== implied) || dice.chance(0.4)
    const ttl =
      known ??
      (explicit ? dice.one([0, 30, 60, 300, 3600, 5400, 86_400, 694_861, 2_147_483_647]) : implied)
    ttls.set(set, ttl)
    if (explicit) lastTtl = ttl
    const head = [
      ...(explicit ? [time(dice, ttl)] : []),
      ...(dice.chance(0.5) ? [shuffleCase('in')] : []),
    ]
    if (dice.chance(0.5)) head.reverse()
    const start = name === owner && dice.chance(0.5) ? gap() : `${spell(name)}${gap()}`
    owner = name
    lines.push(
      `${start}` +
        `${[...head, dice.chance(0.2) ? type.toLowerCase() : type, join(words)].join(gap())}` +
        `${comment()}`,
    )
    records.push(`${name} ${ttl} ${type} ${data}`)
  }

  if (dice.chance(0.5)) lines.push(`$ORIGIN ${origin}.${comment()}`)
  if (dice.chance(0.7)) {
    defaultTtl = dice.one([300, 3600, 86_400])
    lines.push(`${dice.one(['$TTL', '$ttl'])} ${time(dice, defaultTtl)}${comment()}`)
  }
  const serial = dice.number(4_294_967_295)
  const [refresh, retry, expire, minimum] = [7200, 900, 1_209_600, 300 + dice.number(9000)] as const
  const [primary, mailbox] = [`ns1.${dice.one([origin, 'portal.test'])}`, `host\\.master.${origin}`]
  add(
    origin,
    'SOA',
    [
      spell(primary),
      `${mailbox}.`,
      String(serial),
      ...[refresh, retry, expire, minimum].map((seconds) => time(dice, seconds)),
    ],
    `${primary}. ${mailbox}. ${serial} ${refresh} ${retry} ${expire} ${minimum}`,
  )
  for (const server of ['ns1.hoster.test', 'ns2.hoster.test'])
    add(origin, 'NS', [spell(server)], server)

  for (let count = 1 + dice.number(20); count > 0; count--) {
    if (dice.chance(0.08)) {
      current = dice.one([origin, `sub.${origin}`])
      lines.push(`$ORIGIN ${current}.`)
    }
    if (dice.chance(0.04)) lines.push(dice.one(['', '   ', '; a line of its own', '\t; another']))
    if (dice.chance(0.03)) {
      defaultTtl = dice.one([120, 7200])
      lines.push(`$TTL ${time(dice, defaultTtl)}`)
    }
    const name = dice.chance(0.2)
      ? origin
      : `${dice.chance(0.1) ? '*.' : ''}` +
        `${[label(dice), ...dice.many(2, () => label(dice))].join('.')}.${origin}`
    const type = dice.one(['A', 'A', 'AAAA', 'CNAME', 'TXT', 'TXT', 'MX'] as const)
    // A CNAME stands alone at its name.
    if (taken.has(name) && (type === 'CNAME' || taken.has(`CNAME ${name}`))) continue
    if (type === 'CNAME' && name === origin) continue
    taken.add(name).add(`${type} ${name}`)
    const target = dice.chance(0.5) ? `${label(dice)}.${origin}` : `${label(dice)}.elsewhere.test`
    switch (type) {
      case 'A': {
        const address = Array.from({ length: 4 }, () => dice.number(256)).join('.')
        add(name, type, [address], address)
        break
      }
      case 'AAAA': {
        const { written, data } = ipv6(dice)
        add(name, type, [written], data)
        break
      }
      case 'CNAME':
        add(name, type, [spell(target)], target)
        break
      case 'MX': {
        const priority = dice.number(65_536)
        add(name, type, [String(priority), spell(target)], `${priority} ${target}`)
        break
      }
      case 'TXT': {
        const strings = Array.from({ length: 1 + dice.number(3) }, () =>
          text(dice, dice.chance(0.1) ? 255 : dice.number(40)),
        )
        add(
          name,
          type,
          strings.map(({ quoted }) => `"${quoted}"`),
          strings.map(({ hex }) => hex).join(''),
        )
        break
      }
    }
  }
  const end = dice.one(['\n', '\n', '\r\n'])
  return { origin, text: `${lines.join('\n')}\n`.replaceAll('\n', end), records }
}

const syntaxFragments = [
  '(',
  ')',
  '"',
  ';',
  '\\',
  '\\2',
  '\\256',
  '@',
  '.',
  '..',
  ' ',
  '\n',
  '\t',
  'IN',
  'CH',
  '300',
  '1h',
  '-1',
  '4294967296',
  '$TTL',
  'x'.repeat(64),
]

/** The text with one to four small changes, like typing mistakes. */
export function mutate(original: string, seed: number): string {
  const dice = new Dice(seed)
  let changed = original
  for (let count = 1 + dice.number(4); count > 0; count--) {
    const at = dice.number(changed.length + 1)
    const length = dice.number(6)
    const lines = changed.split('\n')
    switch (dice.number(6)) {
      case 0:
        changed = changed.slice(0, at) + changed.slice(at + length)
        break
      case 1:
        changed = changed.slice(0, at) + dice.one(syntaxFragments) + changed.slice(at)
        break
      case 2:
        changed =
          changed.slice(0, at) +
          changed.slice(at, at + length).toUpperCase() +
          changed.slice(at, at + length) +
          changed.slice(at + length)
        break
      case 3:
        lines.splice(dice.number(lines.length), 1)
        changed = lines.join('\n')
        break
      case 4: {
        const [from, to] = [dice.number(lines.length), dice.number(lines.length)]
        ;[lines[from], lines[to]] = [lines[to] ?? '', lines[from] ?? '']
        changed = lines.join('\n')
        break
      }
      default:
        changed = changed.slice(0, at) + dice.one(syntaxFragments) + changed.slice(at + length)
    }
  }
  return changed
}
