/**
 * Work in rounds, one at a time: at once after a change, and periodically in case a change was
 * missed. A change during a round starts another round after it.
 */

export interface Rounds {
  /** Something changed: a round begins soon. */
  refresh(): void
  /** Resolves after the first round; later rounds are periodic. */
  start(): Promise<void>
  stop(): void
  /** Resolves when nothing that was refreshed is still to be done. */
  idle(): Promise<void>
}

/** `round` looks after its own failures. */
export function createRounds(round: () => Promise<void>, everyMs: number): Rounds {
  let running: Promise<void> | undefined
  let again = false
  let timer: NodeJS.Timeout | undefined

  function refresh(): void {
    if (running) {
      again = true
      return
    }
    running = round().finally(() => {
      running = undefined
      if (!again) return
      again = false
      refresh()
    })
  }
  async function idle(): Promise<void> {
    while (running) await running
  }
  return {
    refresh,
    idle,
    async start() {
      refresh()
      await idle()
      timer = setInterval(refresh, everyMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}
