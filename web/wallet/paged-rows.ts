/**
 * The entries of all pages as one list, without copying: otherwise each new page would make a copy
 * of up to a hundred thousand entries garbage.
 */
export class PagedRows<T> {
  readonly length: number
  readonly #pages: readonly (readonly T[])[]
  /** Index of the first entry of each page. */
  readonly #begins: number[] = []

  constructor(pages: readonly (readonly T[])[]) {
    this.#pages = pages
    let length = 0
    for (const page of pages) {
      this.#begins.push(length)
      length += page.length
    }
    this.length = length
  }

  /** Like an array's own `slice`, for indexes that are not negative. */
  slice(begin: number, end: number): T[] {
    const found: T[] = []
    // A search returns pages of any length, even empty ones.
    for (let at = this.#pageOf(begin); at < this.#pages.length; at++) {
      const first = this.#begins[at] ?? 0
      if (first >= end) break
      found.push(...(this.#pages[at]?.slice(Math.max(0, begin - first), end - first) ?? []))
    }
    return found
  }

  /** The last page that begins at or before that entry. */
  #pageOf(entry: number): number {
    let low = 0
    let high = this.#begins.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#begins[middle] ?? 0) <= entry) low = middle
      else high = middle - 1
    }
    return low
  }
}
