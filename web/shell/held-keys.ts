/**
 * Holds keys that were pressed for a field that is not rendered yet, so that they do not reach the
 * focused element.
 */
export class HeldKeys {
  typed = ''
  /**
   * The field exists already. When it is rendered together with the request for it, that is before
   * any key is held.
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
    // A key combination belongs to the browser, and input of an input method needs a field.
    if (event.ctrlKey || event.metaKey || event.isComposing) return
    event.preventDefault()
    event.stopPropagation()
    if (key === 'Escape') this.#onEscape()
    else if (key === 'Backspace') this.typed = this.typed.slice(0, -1)
    // Other keys have names of several letters.
    else if (key.length === 1) this.typed += key
  }

  /** Stops holding keys. */
  release = () => {
    this.#released = true
    removeEventListener('keydown', this.#onKey, true)
  }
}
