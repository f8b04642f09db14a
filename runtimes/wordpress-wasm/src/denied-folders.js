// Whether a .htaccess below wp-content forbids reading a file. Plugins close folders this way:
// backups, logs, files for sale. Of Apache's directives only those that refuse everybody, or
// nobody, are read.
import fs from 'node:fs/promises'
import path from 'node:path'

const mostBytes = 1_048_576
const scope = /^\/wp-content\//
/** Cache by file: its time, size and text; read again when the file changes. */
const known = new Map()

async function textOf(file) {
  const stat = await fs.lstat(file).catch(() => null)
  if (!stat?.isFile()) return ''
  // A file this large is not read; it may close the folder, so it counts as closing it.
  if (stat.size > mostBytes) return 'deny from all'
  const mark = `${stat.mtimeMs} ${stat.size} ${stat.ino}`
  const before = known.get(file)
  if (before?.mark === mark) return before.text
  if (known.size > 1_000) known.clear()
  const text = await fs.readFile(file, 'utf8').catch(() => '')
  known.set(file, { mark, text })
  return text
}

/** Whether `<Files …>` or `<FilesMatch …>` matches this name. */
function isAbout(kind, said, name) {
  const pattern = said.trim().replace(/^~\s*/, '').replaceAll(/^"|"$/g, '')
  const isExpression = kind.toLowerCase() === 'filesmatch' || /^~/.test(said.trim())
  const source = isExpression
    ? pattern
    : `^${pattern
        .replaceAll(/[.+^${}()|\\]/g, String.raw`\$&`)
        .replaceAll('*', '.*')
        .replaceAll('?', '.')}$`
  try {
    return new RegExp(source.replace(/^\(\?i\)/, ''), 'i').test(name)
  } catch {
    // A pattern that cannot be read may be meant to refuse.
    return true
  }
}

/**
 * Lines that refuse everybody, or everybody except visitors that cannot be identified here: by
 * password, by address, by group. `Order allow,deny` refuses everybody whom no later line allows.
 */
const refuses = new RegExp(
  '^(?:deny\\s+from\\s+all|order\\s+allow\\s*,\\s*deny|require\\s+(?:all\\s+denied|local|ip|host|' +
    'valid-user|user|group|ldap\\S*)(?:\\s.*)?)$',
  'i',
)

/** true: refused; false: open; null: the text says nothing about this file. */
function verdictOf(text, name) {
  let verdict = null
  /** The blocks around the line: whether each applies to the file. */
  const blocks = []
  for (const line of text.split('\n')) {
    const word = line.trim()
    const opens = /^<(\w+)\s*([^>]*)>/.exec(word)
    if (opens) {
      blocks.push(!/^files/i.test(opens[1]) || isAbout(opens[1], opens[2], name))
    } else if (/^<\//.test(word)) {
      blocks.pop()
    } else if (blocks.every(Boolean)) {
      if (refuses.test(word)) verdict = true
      else if (/^(?:allow\s+from\s+all|require\s+all\s+granted)$/i.test(word)) verdict = false
    }
  }
  return verdict
}

/**
 * Whether a .htaccess has closed this file to visitors.
 * @param {string} siteDir
 * @param {string} name its path below the site's folder, beginning with a slash
 * @returns {Promise<boolean>}
 */
export async function isDenied(siteDir, name) {
  if (!scope.test(name)) return false
  let verdict = false
  const parts = path.posix.dirname(name).split('/').slice(1)
  for (let depth = 1; depth <= parts.length; depth++) {
    const text = await textOf(path.join(siteDir, ...parts.slice(0, depth), '.htaccess'))
    // The .htaccess nearest to the file decides.
    if (text !== '') verdict = verdictOf(text, path.posix.basename(name)) ?? verdict
  }
  return verdict
}
