// MySQL's SQL as a list of tokens, as far as the tags of a statement need it (sql-tags.js).

/**
 * @typedef {{kind: 'name' | 'text' | 'number' | 'sign', value: string, quoted?: true}} Token
 * `name`: also a keyword, unless `quoted`; in lower case. `text`: without its quotes.
 */

const blank = /[\s\u00a0\ufeff]+/y
const lineComment = /(?:--(?=\s|$)|#)[^\n]*/y
const word = /[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*/y
const number = /(?:0x[\da-f]+|\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)(?![\w$\u0080-\uffff])/iy
/** MySQL allows names that begin with a digit. */
const digitWord = /\d[\w$\u0080-\uffff]*/y
const sign = /<=>|<>|<=|>=|!=|:=|\|\||&&|@@|[\s\S]/y

function match(pattern, text, at) {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** The index after the closing quote of what begins at `at`; undefined: the quote is not closed. */
function endOfQuoted(text, at, quote) {
  const escapes = quote !== '`'
  for (let here = at + 1; here < text.length; here++) {
    const letter = text[here]
    if (escapes && letter === '\\') here++
    else if (letter === quote) {
      if (text[here + 1] !== quote) return here + 1
      here++
    }
  }
  return undefined
}

/**
 * The content of a quoted text. Escapes stay unchanged, because comparisons only accept plain
 * letters.
 */
const unquoted = (text, quote) => text.slice(1, -1).replaceAll(quote + quote, quote)

/**
 * The tokens of a statement without its comments.
 * @param {string} sql
 * @returns {Token[] | null} null: it cannot be read, or holds a comment that MySQL runs
 */
export function tokensOf(sql) {
  const tokens = []
  let at = 0
  while (at < sql.length) {
    const skipped = match(blank, sql, at) ?? match(lineComment, sql, at)
    if (skipped) {
      at += skipped.length
      continue
    }
    if (sql.startsWith('/*', at)) {
      // `/*! … */` and MariaDB's `/*M! … */` are run; `/*+ … */` are hints.
      if (/^\/\*M?!/.test(sql.slice(at, at + 4))) return null
      const end = sql.indexOf('*/', at + 2)
      if (end < 0) return null
      at = end + 2
      continue
    }
    const letter = sql[at]
    if (letter === "'" || letter === '"' || letter === '`') {
      const end = endOfQuoted(sql, at, letter)
      if (end === undefined) return null
      const value = unquoted(sql.slice(at, end), letter)
      tokens.push(
        letter === '`'
          ? { kind: 'name', value: value.toLowerCase(), quoted: true }
          : { kind: 'text', value },
      )
      at = end
      continue
    }
    const figure = match(number, sql, at)
    if (figure) {
      tokens.push({ kind: 'number', value: figure })
      at += figure.length
      continue
    }
    const name = match(word, sql, at) ?? match(digitWord, sql, at)
    if (name) {
      tokens.push({ kind: 'name', value: name.toLowerCase() })
      at += name.length
      continue
    }
    const other = match(sign, sql, at)
    tokens.push({ kind: 'sign', value: other })
    at += other.length
  }
  // One statement may end with a semicolon; several statements are not supported.
  while (tokens.at(-1)?.value === ';' && tokens.at(-1)?.kind === 'sign') tokens.pop()
  return tokens.some(({ kind, value }) => kind === 'sign' && value === ';') ? null : tokens
}
