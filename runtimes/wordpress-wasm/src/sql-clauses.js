// Parts of a statement, as far as its tags need them (sql-tags.js).

/** The set of a text's words. */
export const words = (text) => new Set(text.split(' '))
/** If a WHERE's top level has only these, every condition between two ANDs must hold. */
const plainWords = words('and in is not null like true false')
const plainSigns = words('= != <> < > <= >= . ,')
/** What may follow the conditions of a WHERE. */
const afterConditions = words('order group limit for having lock offset procedure')

export const isWord = (token, ...values) =>
  token?.kind === 'name' && !token.quoted && values.includes(token.value)
export const isSign = (token, value) => token?.kind === 'sign' && token.value === value

/** The parenthesis depth of each token; parentheses themselves have the depth outside. */
export function depthsOf(tokens) {
  let depth = 0
  return tokens.map((token) => {
    if (isSign(token, ')')) depth--
    const here = depth
    if (isSign(token, '(')) depth++
    return here
  })
}

/**
 * The key as a tag contains it; null for a value whose equal values cannot be recognised by their
 * spelling.
 */
export function keyOf(token, column) {
  // A name that is compared with a number is converted to a number: '5x' is 5.
  const isText = column === 'option_name' || column === 'meta_key'
  if (token?.kind === 'number' && isText) return null
  if (token?.kind === 'number')
    return /^\d+$/.test(token.value) ? String(BigInt(token.value)) : null
  if (token?.kind !== 'text') return null
  const { value } = token
  if (/^\d+$/.test(value)) return String(BigInt(value))
  // MySQL's collations ignore case, accents and spaces at the end.
  return /^[A-Za-z_][\w\-.:/ ]*$/.test(value) ? value.toLowerCase().trimEnd() : null
}

/** Words that MySQL reserves: no table has such a name unless it is quoted. */
const reserved = words(
  'all and as asc between by case cross delete desc distinct else exists for from group having ' +
    'ignore in inner insert into is join key left like limit not null on or order outer replace ' +
    'right select set then union update using values when where with',
)

/**
 * Every name, and every text that could be one, because a SQL mode makes double quotes enclose
 * names.
 */
export function namesIn(tokens) {
  const found = new Set()
  for (const { kind, value, quoted } of tokens) {
    if (kind === 'name' && (quoted || !reserved.has(value))) found.add(value)
    if (kind === 'text' && /^[\w$]{1,64}$/.test(value)) found.add(value.toLowerCase())
  }
  return found
}

/** A name that a table may have. */
const isName = (token) =>
  token?.kind === 'name' && (token.quoted === true || !reserved.has(token.value))

/**
 * All keys that a WHERE can match; null when it may match others.
 * @param tokens what follows WHERE
 */
export function keysAllowed(tokens, column, names) {
  const depths = depthsOf(tokens)
  let end = tokens.findIndex(
    (token, index) => depths[index] === 0 && isWord(token, ...afterConditions),
  )
  if (end < 0) end = tokens.length
  const isPlain = tokens.slice(0, end).every((token, index) => {
    if (depths[index] > 0 || token.kind === 'text' || token.kind === 'number') return true
    if (token.kind === 'sign')
      return plainSigns.has(token.value) || token.value === '(' || token.value === ')'
    // A word that is a column is allowed there, but an operator that is a word is not.
    return (
      token.quoted ||
      plainWords.has(token.value) ||
      isOperand(tokens, index) ||
      token.value === column
    )
  })
  if (!isPlain) return null
  for (let index = 0; index < end; index++) {
    if (depths[index] !== 0) continue
    if (index > 0 && !isWord(tokens[index - 1], 'and')) continue
    let here = index
    if (isSign(tokens[here + 1], '.')) {
      if (!names.has(tokens[here].value)) continue
      here += 2
    }
    if (tokens[here]?.kind !== 'name' || tokens[here].value !== column) continue
    let keys
    let next
    if (isSign(tokens[here + 1], '=')) {
      keys = [keyOf(tokens[here + 2], column)]
      next = here + 3
    } else if (isWord(tokens[here + 1], 'in') && isSign(tokens[here + 2], '(')) {
      const close = tokens.findIndex((token, at) => at > here + 2 && isSign(token, ')'))
      const list = tokens.slice(here + 3, close)
      if (!list.every((token, at) => at % 2 === 0 || isSign(token, ','))) continue
      keys = list.filter((_token, at) => at % 2 === 0).map((token) => keyOf(token, column))
      next = close + 1
    } else continue
    if (keys.length === 0 || keys.includes(null)) continue
    if (next === end || (next < end && isWord(tokens[next], 'and'))) return keys
  }
  return null
}

/** Whether the word is a column or a qualifier beside a comparison, and not an operator itself. */
function isOperand(tokens, index) {
  const operators = words(
    'or xor between case when then else end div mod rlike regexp binary any all',
  )
  const { value } = tokens[index]
  return (
    !operators.has(value) && !words('some exists interval match collate sounds escape').has(value)
  )
}

/** The only table of a simple statement, from `at` on, with its names; or null. */
export function tableAt(tokens, at) {
  let here = at
  const names = new Set()
  if (!isName(tokens[here])) return null
  if (isSign(tokens[here + 1], '.')) here += 2
  const table = tokens[here]
  if (!isName(table)) return null
  names.add(table.value)
  here++
  const hasAlias = isWord(tokens[here], 'as')
  if (hasAlias) here++
  if (!isName(tokens[here]) || (!hasAlias && isWord(tokens[here], 'value', ...afterConditions)))
    return hasAlias ? null : { table: table.value, names, next: here }
  names.add(tokens[here].value)
  return { table: table.value, names, next: here + 1 }
}

export const countOf = (tokens, ...values) =>
  tokens.filter((token) => isWord(token, ...values)).length
