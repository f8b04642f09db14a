// One at a time, first come, first served. PHP runs one request, and php-wasm's own queue neither
// says whose turn it is nor lets anybody leave it.
export class Turnstile {
  #taken = false
  #line = []

  /** How many wait for their turn. */
  get waiting() {
    return this.#line.length
  }

  /**
   * @param response whose `close` ends the wait, undefined when nobody can leave
   * @returns what ends the turn (to be called once), when the turn has come; null when the visitor
   * left before
   */
  async enter(response) {
    if (response?.destroyed) return null
    if (this.#taken) {
      const stays = await new Promise((resolve) => {
        const place = { begin: () => resolve(true) }
        this.#line.push(place)
        response?.once('close', () => {
          const at = this.#line.indexOf(place)
          if (at < 0) return
          this.#line.splice(at, 1)
          resolve(false)
        })
      })
      if (!stays) return null
    }
    this.#taken = true
    return () => {
      const next = this.#line.shift()
      if (next) next.begin()
      else this.#taken = false
    }
  }
}
