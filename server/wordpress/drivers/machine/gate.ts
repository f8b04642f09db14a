/** Lets at most `width` pieces of work run at the same time; the others wait in order. */
export class Gate {
  #free: number
  readonly #urgent: (() => void)[] = []
  readonly #waiting: (() => void)[] = []

  constructor(width: number) {
    this.#free = width
  }

  /** @param urgent goes before work that is not urgent, and after earlier urgent work */
  async run<T>(work: () => Promise<T>, { urgent = false } = {}): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => (urgent ? this.#urgent : this.#waiting).push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#urgent.shift() ?? this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
