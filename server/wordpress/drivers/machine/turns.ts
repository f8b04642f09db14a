/** The order in which a site's acts happen. */
export class Turns {
  #queue: Promise<unknown> = Promise.resolve()
  /**
   * Backups and restores, one after another. The site's other acts wait only while a restore
   * exchanges its content.
   */
  #copyQueue: Promise<unknown> = Promise.resolve()
  /** Under way or waiting for their turn. */
  #acts = 0

  /** Whether nothing is done and nothing waits to be. */
  get idle(): boolean {
    return this.#acts === 0
  }

  /** One act after another, in the order they were asked for. */
  take<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#after(this.#queue, act)
    this.#queue = turn.catch(() => {})
    return turn
  }

  /** One copy after another; what must not happen beside other acts takes a turn of them, too. */
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
