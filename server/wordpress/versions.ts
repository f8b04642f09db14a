/** Compares versions of WordPress, plugins and themes in the order of PHP's version_compare(). */

/** Rank of a part that is no number; an unknown word ranks below all of these. */
const ranks: ReadonlyMap<string, number> = new Map([
  ['dev', 0],
  ['alpha', 1],
  ['a', 1],
  ['beta', 2],
  ['b', 2],
  ['RC', 3],
  ['rc', 3],
  ['#', 4],
  ['pl', 5],
  ['p', 5],
])
const numberRank = 4
const unknownRank = -1

const partsOf = (version: string): string[] =>
  version
    .replaceAll(/[-_+]/g, '.')
    .replaceAll(/(\d)(?=[^\d.])|([^\d.])(?=\d)/g, '$1$2.')
    .split('.')
    .filter((part) => part !== '')

const rankOf = (part: string): number =>
  /^\d/.test(part) ? numberRank : (ranks.get(part) ?? unknownRank)

function compareParts(one: string, other: string): number {
  if (/^\d/.test(one) && /^\d/.test(other)) return Number(one) - Number(other)
  return rankOf(one) - rankOf(other)
}

/** Negative: `one` is older; 0: neither is; positive: `one` is newer. */
export function compareVersions(one: string, other: string): number {
  const [ones, others] = [partsOf(one), partsOf(other)]
  for (let index = 0; index < Math.max(ones.length, others.length); index++) {
    const [a, b] = [ones[index], others[index]]
    // An additional number is newer (1.0.1); an additional word is older (1.0-rc) unless it means a
    // patch.
    const difference =
      a === undefined || b === undefined
        ? compareParts(a ?? '#', b ?? '#') || (a === undefined ? -1 : 1)
        : compareParts(a, b)
    if (difference !== 0) return Math.sign(difference)
  }
  return 0
}

export const isNewer = (version: string, than: string): boolean =>
  compareVersions(version, than) > 0

/** `7.1` for `7.1.2`: releases of one branch differ only in mended faults. */
export const branchOf = (wordpress: string): string => /^\d+\.\d+/.exec(wordpress)?.[0] ?? wordpress
