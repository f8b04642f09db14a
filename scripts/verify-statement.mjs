/**
 * Checks a wallet statement offline: `node scripts/verify-statement.mjs <file.json|file.csv> [--key
 * <fingerprint or PEM file>]`. Needs Node 20 and nothing else, neither the portal nor the network.
 * Says one sentence and ends with 0 (whole) or 1 (refused). What is signed and hashed is described
 * in docs/statement.md.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const text = (value) => typeof value === 'string'
const integer = (value) => Number.isSafeInteger(value)
/** The fields in the order in which they are signed. */
const headFields = {
  format: text,
  seller: text,
  seller_tax_code: text,
  customer_id: text,
  customer_name: text,
  account: text,
  currency: text,
  from: text,
  to: text,
  issuedAt: text,
  opening_version: integer,
  opening_balance: integer,
  opening_hash: text,
  closing_version: integer,
  closing_balance: integer,
  closing_hash: text,
  public_key: text,
  key_fingerprint: text,
}
const entryFields = {
  version: integer,
  createdAt: text,
  kind: text,
  key: text,
  details: text,
  amount: integer,
  ending_balance: integer,
  hash: text,
}

/** Why a statement is refused, as one sentence. */
export class Refused extends Error {}
const refuse = (why) => {
  throw new Refused(why)
}

/** Refuses an object that has not exactly these fields, each of its kind. */
function shaped(object, fields, where) {
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    refuse(`${where} is not what a statement has there`)
  for (const name of Object.keys(object))
    if (!Object.hasOwn(fields, name)) refuse(`${where} has a field "${name}" that no statement has`)
  for (const [name, holds] of Object.entries(fields))
    if (!holds(object[name])) refuse(`${where}: "${name}" is missing or not as it is written`)
}

// ---- reading

/**
 * Parses JSON, but refuses text that two parsers could read differently: a repeated name in one
 * object, or a number that is not written as an integer. White space between tokens is ignored.
 */
function readJson(source) {
  let document
  try {
    document = JSON.parse(source)
  } catch (error) {
    refuse(`it is not whole JSON (${error.message})`)
  }
  const open = []
  let before = ''
  for (const [token] of source.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : null)
    else if (token === '}' || token === ']') open.pop()
    else if (token.startsWith('"')) {
      const names = open.at(-1)
      if (names && before !== ':') {
        const name = JSON.parse(token)
        if (names.has(name)) refuse(`the field "${name}" stands there twice`)
        names.add(name)
      }
    } else if (/^[-\d]/.test(token) && !/^(?:0|-?[1-9]\d*)$/.test(token))
      refuse(`${token} is not how a statement writes a number`)
    before = token
  }
  // Accepts the document alone, or the whole answer of the API.
  if (typeof document === 'object' && document !== null && 'statusCode' in document) {
    shaped(
      document,
      {
        statusCode: (value) => value === 200,
        message: (value) => value === 'success',
        result: (value) => typeof value === 'object' && value !== null,
      },
      'the envelope',
    )
    document = document.result
  }
  shaped(document, { ...headFields, signature: text, entries: Array.isArray }, 'the head')
  const { signature, entries, ...head } = document
  return { head, signature, entries }
}

const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
/**
 * A text that begins like a spreadsheet formula is written with an apostrophe in front, which is
 * not part of it.
 */
const guarded = (cell) => (/^[=+\-@\t\r']/.test(cell) ? `'${cell}` : cell)
const unguarded = (cell) => (/^'[=+\-@\t\r']/.test(cell) ? cell.slice(1) : cell)

/** Reads lines as in RFC 4180: cells separated by commas, quoted where necessary. */
function readLines(source) {
  const lines = []
  let at = 0
  while (at < source.length) {
    const cells = []
    const begin = at
    for (;;) {
      const pattern = /"((?:[^"]|"")*)"|([^",\r\n]*)/y
      pattern.lastIndex = at
      const match = pattern.exec(source)
      cells.push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'))
      at = pattern.lastIndex
      if (source[at] !== ',') break
      at += 1
    }
    let end
    if (source.startsWith('\r\n', at)) end = 2
    else if (source[at] === '\n') end = 1
    else end = 0

    if (end === 0) refuse(`line ${lines.length + 1} does not end as it should`)
    // The cells, serialised again, must give the same text; otherwise it contains something that
    // parsing would ignore.
    if (cells.map(quoted).join(',') !== source.slice(begin, at))
      refuse(`line ${lines.length + 1} is not as a statement is written`)
    at += end
    lines.push(cells)
  }
  return lines
}

function readCsv(source) {
  const lines = readLines(source)
  const typed = (holds, cell, line) => {
    if (holds === text) {
      const plain = unguarded(cell)
      if (guarded(plain) !== cell) refuse(`line ${line} is not as a statement is written`)
      return plain
    }
    if (!/^(?:0|-?[1-9]\d*)$/.test(cell)) refuse(`line ${line}: "${cell}" is not a whole number`)
    return Number(cell)
  }
  const names = [...Object.keys(headFields), 'signature']
  const head = {}
  for (const [index, name] of names.entries()) {
    const cells = lines[index] ?? []
    if (cells.length !== 2 || cells[0] !== name) refuse(`line ${index + 1} should say "${name}"`)
    head[name] = typed(headFields[name] ?? text, cells[1], index + 1)
  }
  const columns = Object.keys(entryFields)
  if ((lines[names.length] ?? []).join() !== columns.join())
    refuse(`line ${names.length + 1} should name the columns`)
  const entries = lines.slice(names.length + 1).map((cells, index) => {
    const line = names.length + 2 + index
    if (cells.length !== columns.length)
      refuse(`line ${line} has ${cells.length} cells, not ${columns.length}`)
    return Object.fromEntries(
      columns.map((name, place) => [name, typed(entryFields[name], cells[place], line)]),
    )
  })
  const { signature, ...rest } = head
  return { head: rest, signature, entries }
}

// ---- checking

/** Microseconds since 1970 of a valid time, in the only form that a statement uses. */
function microseconds(time) {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})(\d{3})Z$/.exec(time)
  const parsed = match ? new Date(`${match[1]}Z`) : new Date(Number.NaN)
  if (Number.isNaN(parsed.getTime()) || parsed.toISOString() !== `${match[1]}Z`) return undefined
  return BigInt(parsed.getTime()) * 1000n + BigInt(match[2])
}

/** The bytes of canonical base64. */
function base64(value, what) {
  const bytes = Buffer.from(value, 'base64')
  if (bytes.toString('base64') !== value) refuse(`${what} is damaged`)
  return bytes
}

const sha256 = (...parts) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

function checkHead(head, signature, expectedKey) {
  if (head.format !== 'wallet-statement/1')
    refuse(`its format is "${head.format}", which this verifier does not know`)
  const der = base64(head.public_key, 'the public key')
  const fingerprint = sha256(der)
  if (head.key_fingerprint !== fingerprint)
    refuse('the fingerprint of the key is not that of the public key')
  if (expectedKey !== undefined && expectedKey !== fingerprint)
    refuse(`it is signed with another key: ${fingerprint}, not ${expectedKey}`)
  let key
  try {
    key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    refuse('the public key is damaged')
  }
  if (key.asymmetricKeyType !== 'ed25519') refuse('the public key is not an Ed25519 key')
  const signed = JSON.stringify(
    Object.fromEntries(Object.keys(headFields).map((name) => [name, head[name]])),
  )
  if (!verify(null, Buffer.from(signed), key, base64(signature, 'the signature')))
    refuse(
      'the signature does not fit the head (seller, customer, account, period, balances and ' +
        'hashes)',
    )
  return fingerprint
}

function checkEntries(head, entries) {
  const [from, to] = [head.from, head.to].map(
    (time) =>
      microseconds(time.replace('Z', '000Z')) ?? refuse('the period is not as it is written'),
  )
  let version = head.opening_version
  let balance = BigInt(head.opening_balance)
  let hash = head.opening_hash
  let time = from
  let sum = 0n
  for (const [index, entry] of entries.entries()) {
    shaped(entry, entryFields, `entry ${index + 1}`)
    const where = `entry ${index + 1} (version ${entry.version})`
    version += 1
    if (entry.version !== version)
      refuse(`${where} should have version ${version}: entries are missing, added or out of order`)
    const at = microseconds(entry.createdAt) ?? refuse(`${where}: its time is not as it is written`)
    if (at < time || at >= to)
      refuse(`${where}: its time lies outside the period or before the entry before it`)
    balance += BigInt(entry.amount)
    sum += BigInt(entry.amount)
    if (BigInt(entry.ending_balance) !== balance)
      refuse(`${where}: the balance after it should be ${balance}, not ${entry.ending_balance}`)
    const said = [
      head.account,
      version,
      entry.key,
      entry.kind,
      entry.details,
      entry.amount,
      entry.ending_balance,
      at,
    ].join('|')
    // A '|' in a kind would allow text to move between fields without changing the hash.
    if (!/^[a-z_]+$/.test(entry.kind)) refuse(`${where}: its kind is not a kind`)
    const expected = sha256(Buffer.from(hash, 'hex'), said)
    if (entry.hash !== expected)
      refuse(`${where}: its hash does not follow from its words and the hash before it`)
    hash = expected
    time = at
  }
  if (version !== head.closing_version)
    refuse(
      `it ends with version ${version}, but version ${head.closing_version} is the last that ` +
        'was signed: entries are missing or added',
    )
  if (hash !== head.closing_hash)
    refuse('the hash of the last entry is not the one that was signed')
  if (BigInt(head.opening_balance) + sum !== BigInt(head.closing_balance))
    refuse('opening balance and entries do not give the closing balance')
}

/**
 * Throws with the reason when the statement is refused. `expectedKey`: the fingerprint of the key
 * that must have signed it (hex).
 * @param {string | Uint8Array} file
 * @param {string} [expectedKey]
 */
export function verifyStatement(file, expectedKey) {
  let source
  try {
    source =
      typeof file === 'string'
        ? file
        : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(file)
  } catch {
    refuse('it is not UTF-8')
  }
  if (source.startsWith('\uFEFF')) source = source.slice(1)
  const { head, signature, entries } = /^\s*\{/.test(source) ? readJson(source) : readCsv(source)
  const fingerprint = checkHead(head, signature, expectedKey)
  checkEntries(head, entries)
  return { head, fingerprint, entries: entries.length }
}

/** A given fingerprint, or that of the public key in a PEM file. */
function fingerprintOf(given) {
  const plain = given.replaceAll(':', '').toLowerCase()
  if (/^[0-9a-f]{64}$/.test(plain)) return plain
  if (!existsSync(given))
    refuse(`--key ${given} is neither a fingerprint (64 hex digits) nor a file`)
  try {
    return sha256(createPublicKey(readFileSync(given)).export({ format: 'der', type: 'spki' }))
  } catch {
    return refuse(`--key ${given} holds no public key in PEM`)
  }
}

function main(args) {
  const keyAt = args.indexOf('--key')
  const given = keyAt === -1 ? undefined : args[keyAt + 1]
  const files = args.filter((_, index) => keyAt === -1 || (index !== keyAt && index !== keyAt + 1))
  if (files.length !== 1 || (keyAt !== -1 && given === undefined)) {
    process.stderr.write(
      'Usage: node verify-statement.mjs <statement.json|statement.csv> [--key <fingerprint or ' +
        'PEM file>]\n',
    )
    return 1
  }
  const [file] = files
  try {
    const bytes = existsSync(file) ? readFileSync(file) : refuse('there is no such file')
    const { head, fingerprint, entries } = verifyStatement(
      bytes,
      given === undefined ? undefined : fingerprintOf(given),
    )
    const whose =
      given === undefined
        ? `signed with key ${fingerprint}; compare it with the one that ${head.seller} publishes`
        : `signed with the expected key`
    process.stdout.write(
      `Whole: ${entries} entries of ${head.account} (${head.customer_name}) from ${head.from} ` +
        `to ${head.to}, opening ${head.opening_balance}, closing ${head.closing_balance} ` +
        `${head.currency} in minor units, ${whose}.\n`,
    )
    return 0
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    process.stdout.write(`Refused: ${file}: ${error.message}.\n`)
    return 1
  }
}

if (
  process.argv[1] !== undefined &&
  realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)
)
  process.exit(main(process.argv.slice(2)))
