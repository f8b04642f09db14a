/** The order in which a site's acts happen. */
export class Turns {
  #queue: Promise<unknown> = Promise.resolve()
  /**
   * The queue of backups and restores. The site's other acts wait only while a restore exchanges
   * its content.
   */
  #copyQueue: Promise<unknown> = Promise.resolve()
  /** Number of acts under way or waiting. */
  #acts = 0

  /** Whether no act is under way or waiting. */
  get idle(): boolean {
    return this.#acts === 0
  }

  /** Runs acts one after another, in the order they were asked for. */
  take<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#after(this.#queue, act)
    this.#queue = turn.catch(() => {})
    return turn
  }

  /**
   * Runs copies one after another; a part that must not happen beside other acts takes one of their
   * turns, too.
   */
  takeForCopy<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#after(this.#copyQueue, act)
    this.#copyQueue = turn.catch(() => {})
    return turn
  }

  #after<T>(former: Promise<unknown>, act: () => Promise<T>): Promise<T> {
    this.#acts++
    return former.then(act, act).finally(() => this.#acts--)
  }
}
