// While the portal updates a site, requests that may write are held, so that nothing is lost if the
// site is rolled back. Reads continue.

/** A visitor waits this long, ms, then is asked to retry. */
const longestWaitMs = 25_000
/** Most waiting requests; further ones are refused at once. */
const mostWaiting = 64

/** Whether a request by this method may change something. */
export const mayWrite = (method) => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'

export class WriteHold {
  #until = 0
  #timer
  #waiting = new Set()

  /** Holds writes for `ms` from now on; 0 releases them. */
  set(ms) {
    clearTimeout(this.#timer)
    this.#until = ms > 0 ? Date.now() + ms : 0
    if (ms > 0) this.#timer = setTimeout(() => this.set(0), ms).unref()
    else this.#leave(true)
  }

  get active() {
    return this.#until > Date.now()
  }

  #leave(pass) {
    const all = [...this.#waiting]
    this.#waiting.clear()
    for (const leave of all) leave(pass)
  }

  /** The container ends: waiting visitors are asked to retry. */
  end() {
    this.#leave(false)
  }

  /**
   * Resolves with true when the request may continue, or with false when its visitor is to retry.
   */
  pass(response) {
    if (!this.active) return Promise.resolve(true)
    if (this.#waiting.size >= mostWaiting) return Promise.resolve(false)
    return new Promise((resolve) => {
      const leave = (pass) => {
        clearTimeout(timer)
        this.#waiting.delete(leave)
        response.off('close', gone)
        resolve(pass)
      }
      const gone = () => leave(false)
      const timer = setTimeout(() => leave(false), longestWaitMs)
      response.once('close', gone)
      this.#waiting.add(leave)
    })
  }
}
