// What a .htaccess below wp-content says about who may read a file. Plugins close folders of theirs
// so: backups, logs, files that are sold. Of Apache's words only those that refuse everybody, or
// nobody, are read.
import fs from 'node:fs/promises'
import path from 'node:path'

const mostBytes = 1_048_576
const scope = /^\/wp-content\//
/** File => its time, size and text: read again when it changes. */
const known = new Map()

async function textOf(file) {
  const stat = await fs.lstat(file).catch(() => null)
  if (!stat?.isFile()) return ''
  // Nobody reads whether it closes the folder, so it does.
  if (stat.size > mostBytes) return 'deny from all'
  const mark = `${stat.mtimeMs} ${stat.size} ${stat.ino}`
  const before = known.get(file)
  if (before?.mark === mark) return before.text
  if (known.size > 1_000) known.clear()
  const text = await fs.readFile(file, 'utf8').catch(() => '')
  known.set(file, { mark, text })
  return text
}

/** Whether `<Files …>` or `<FilesMatch …>` is about this name. */
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
    // One that is not understood may be meant to refuse.
    return true
  }
}

/**
 * Lines that refuse everybody, or everybody but some whom nobody here can tell from others: by
 * password, by address, by group. `Order allow,deny` refuses whom no later line allows.
 */
const refuses = new RegExp(
  '^(?:deny\\s+from\\s+all|order\\s+allow\\s*,\\s*deny|require\\s+(?:all\\s+denied|local|ip|host|' +
    'valid-user|user|group|ldap\\S*)(?:\\s.*)?)$',
  'i',
)

/** true: refused, false: open, null: it says nothing of this file. */
function verdictOf(text, name) {
  let verdict = null
  /** Blocks that the line stands in: whether each is about the file. */
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
 * Whether the owner's plugins have closed this file to visitors.
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
    // The one nearest to the file decides.
    if (text !== '') verdict = verdictOf(text, path.posix.basename(name)) ?? verdict
  }
  return verdict
}
