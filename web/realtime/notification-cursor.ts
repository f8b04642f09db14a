/**
 * Which events this tab has already shown. A push may come late, twice or never; missed events are
 * read from the stored notifications after a cursor. The cursor moves only along that list, because
 * a pushed id may be ahead of a missed one.
 */
export interface WithId {
  id: string
}

const memory = 500

export class NotificationCursor {
  #seen = new Set<string>()
  #last: string | undefined
  #primed = false

  /**
   * The id after which to ask: the newest known one. Undefined until the first list, or when that
   * was empty.
   */
  get after(): string | undefined {
    return this.#last
  }

  /** Whether a first list was taken. */
  get primed(): boolean {
    return this.#primed
  }

  /** Marks an id as seen. True the first time. */
  markSeen(id: string): boolean {
    if (this.#seen.has(id)) return false
    this.#seen.add(id)
    if (this.#seen.size > memory) {
      const [oldest] = this.#seen
      if (oldest !== undefined) this.#seen.delete(oldest)
    }
    return true
  }

  /**
   * Takes a list as the server returns it, newest first, and returns new entries, oldest first. The
   * first list is history: it sets the cursor and returns nothing.
   */
  take<N extends WithId>(newestFirst: readonly N[]): N[] {
    const fresh = newestFirst.filter((entry) => this.markSeen(entry.id)).reverse()
    const newest = newestFirst[0]
    if (newest) this.#last = newest.id
    const history = !this.#primed
    this.#primed = true
    return history ? [] : fresh
  }
}
