/**
 * Reports what PHP has written, and waits until the edge has dropped every page that showed the old
 * data.
 */
export class PageWrites {
  #send
  #number = 0
  /** Callbacks of reports that the edge has not acknowledged, by number. */
  #waiting = new Map()

  /** @param {((line: object) => void) | null} send to the control channel; null: nobody listens */
  constructor(send) {
    this.#send = send
  }

  /**
   * Resolves when the edge has dropped the pages.
   * @param {string[] | null} tags null: everything
   */
  async tell(tags) {
    await this.#tell({ tags })
  }

  /** PHP ended by itself. Resolves when the edge treats all its kept pages as doubtful. */
  async doubt() {
    await this.#tell({ tags: null, doubt: true })
  }

  async #tell(what) {
    if (!this.#send) return
    const number = ++this.#number
    this.#send({ ev: 'wrote', n: number, ...what })
    await new Promise((resolve) => this.#waiting.set(number, resolve))
  }

  /** The edge has acknowledged the report with this number. */
  dropped(number) {
    this.#waiting.get(number)?.()
    this.#waiting.delete(number)
  }
}
