/**
 * Keys that were pressed for a field that is not there yet: kept for it, instead of going to what
 * has the focus.
 */
export class HeldKeys {
  typed = ''
  /**
   * The field is there: if it is rendered together with the request for it, that is before any key
   * is held.
   */
  #released = false
  readonly #onEscape: () => void

  constructor(onEscape: () => void) {
    this.#onEscape = onEscape
  }

  hold() {
    if (!this.#released) addEventListener('keydown', this.#onKey, true)
    return this.release
  }

  #onKey = (event: KeyboardEvent) => {
    const { key } = event
    // A chord is the browser's, and what an input method composes has no place but a field.
    if (event.ctrlKey || event.metaKey || event.isComposing) return
    event.preventDefault()
    event.stopPropagation()
    if (key === 'Escape') this.#onEscape()
    else if (key === 'Backspace') this.typed = this.typed.slice(0, -1)
    // The others have names of several letters.
    else if (key.length === 1) this.typed += key
  }

  /** Gives the keyboard back to the page. */
  release = () => {
    this.#released = true
    removeEventListener('keydown', this.#onKey, true)
  }
}
