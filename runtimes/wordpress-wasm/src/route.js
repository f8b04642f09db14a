// Maps a URL path to what answers it, inside the site's folder only.
import fs from 'node:fs/promises'
import path from 'node:path'
import { isDenied } from './denied-folders.js'

/** Folders below which PHP files are data and are not run, and the folder that is never served. */
const neverRun = /^\/wp-content\/(?:uploads|languages|upgrade|fonts)\//i
const neverServe = /^\/wp-content\/database(?:\/|$)/i

/**
 * @returns {Promise<{kind: 'file'|'php'|'redirect'|'refused', file?: string, script?: string,
 * stat?: import('node:fs').Stats, location?: string}>}
 *   `php`: `script` is the path below the site's folder, beginning with a slash.
 */
export async function route(siteDir, pathname) {
  let decoded
  try {
    decoded = decodeURIComponent(pathname)
  } catch {
    return { kind: 'refused' }
  }
  if (decoded.includes('\0') || decoded.includes('\\')) return { kind: 'refused' }
  const clean = path.posix.normalize(decoded)
  if (clean.split('/').some((part) => part.startsWith('.') && part !== '.well-known'))
    return { kind: 'refused' }
  if (neverServe.test(clean)) return { kind: 'refused' }

  let found = await look(siteDir, clean)
  if (found?.stat.isDirectory()) {
    if (!clean.endsWith('/')) return { kind: 'redirect', location: `${pathname}/` }
    for (const index of ['index.php', 'index.html']) {
      const inside = await look(siteDir, clean + index)
      if (inside?.stat.isFile()) return answer(siteDir, clean + index, inside)
    }
    found = null
  }
  if (found?.stat.isFile()) return answer(siteDir, clean, found)
  // /index.php/some/path: the longest prefix that is a program gets the rest as PATH_INFO.
  const at = clean.search(/\.php\//i)
  if (at > 0) {
    const script = clean.slice(0, at + 4)
    const inside = await look(siteDir, script)
    if (inside?.stat.isFile()) return answer(siteDir, script, inside)
  }
  return { kind: 'php', script: '/index.php' }
}

async function answer(siteDir, name, { file, stat }) {
  if (await isDenied(siteDir, name)) return { kind: 'refused' }
  if (!/\.(?:php|phtml|phar)$/i.test(name)) return { kind: 'file', file, stat }
  if (neverRun.test(name) || !name.endsWith('.php')) return { kind: 'refused' }
  return { kind: 'php', script: name }
}

/** The file below the folder, unless any part of the path is a link. */
async function look(siteDir, name) {
  const file = path.join(siteDir, name.replace(/\/$/, ''))
  try {
    const real = await fs.realpath(file)
    if (real !== file) return null
    return { file, stat: await fs.lstat(file) }
  } catch {
    return null
  }
}
