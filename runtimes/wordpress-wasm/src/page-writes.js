/** Tells what PHP has written, and waits until the edge has dropped every page that showed it. */
export class PageWrites {
  #send
  #number = 0
  /** By their numbers, what waits for the edge to have dropped. */
  #waiting = new Map()

  /** @param {((line: object) => void) | null} send to the control channel; null: nobody listens */
  constructor(send) {
    this.#send = send
  }

  /**
   * Resolves when the edge has dropped it.
   * @param {string[] | null} tags null: everything
   */
  async tell(tags) {
    await this.#tell({ tags })
  }

  /** PHP ended by itself. Resolves when the edge doubts all that it keeps. */
  async doubt() {
    await this.#tell({ tags: null, doubt: true })
  }

  async #tell(what) {
    if (!this.#send) return
    const number = ++this.#number
    this.#send({ ev: 'wrote', n: number, ...what })
    await new Promise((resolve) => this.#waiting.set(number, resolve))
  }

  /** The edge has dropped what it was told under this number. */
  dropped(number) {
    this.#waiting.get(number)?.()
    this.#waiting.delete(number)
  }
}
