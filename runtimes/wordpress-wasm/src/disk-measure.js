// Measures a folder: its bytes, its files, its deepest path.
import fs from 'node:fs'
import path from 'node:path'

/**
 * @typedef {{bytes: number, files: number, whole: boolean}} Measure `whole`: false when a folder
 *   could not be read; it may hold anything, so the sum is a lower bound
 */

const isGone = (error) => error?.code === 'ENOENT' || error?.code === 'ENOTDIR'

/**
 * Bytes and files below `dir`. Links are not followed, and `skip` is left out. What disappears
 * meanwhile is not counted.
 * @returns {Measure}
 */
export function measureSync(dir, skip) {
  const sum = { bytes: 0, files: 0, whole: true }
  let entries
  try {
    entries = fs.readdirSync(dir, { withFileTypes: true })
  } catch (error) {
    sum.whole = isGone(error)
    return sum
  }
  for (const entry of entries) {
    const full = path.join(dir, entry.name)
    if (full === skip) continue
    sum.files++
    if (entry.isDirectory()) add(sum, measureSync(full, skip))
    else if (entry.isFile()) {
      try {
        sum.bytes += fs.lstatSync(full).size
      } catch (error) {
        if (!isGone(error)) sum.whole = false
      }
    }
  }
  return sum
}

/**
 * Like `measureSync`, without blocking other work.
 * @returns {Promise<Measure>}
 */
export async function measure(dir, skip) {
  const sum = { bytes: 0, files: 0, whole: true }
  let entries
  try {
    entries = await fs.promises.readdir(dir, { withFileTypes: true })
  } catch (error) {
    sum.whole = isGone(error)
    return sum
  }
  for (const entry of entries) {
    const full = path.join(dir, entry.name)
    if (full === skip) continue
    sum.files++
    if (entry.isDirectory()) add(sum, await measure(full, skip))
    else if (entry.isFile()) {
      try {
        sum.bytes += (await fs.promises.lstat(full)).size
      } catch (error) {
        if (!isGone(error)) sum.whole = false
      }
    }
  }
  return sum
}

function add(sum, below) {
  sum.bytes += below.bytes
  sum.files += below.files
  sum.whole &&= below.whole
}

/**
 * The length in bytes of the longest path at or below `dir`.
 * @throws when a folder cannot be read, because its content may be of any depth
 */
export function deepestSync(dir) {
  let longest = Buffer.byteLength(dir)
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const full = path.join(dir, entry.name)
    longest = Math.max(longest, entry.isDirectory() ? deepestSync(full) : Buffer.byteLength(full))
  }
  return longest
}
