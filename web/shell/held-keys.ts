/** What is typed while the field for it is on its way. */
export interface HeldKeys {
  typed: () => string
  /** Gives the keyboard back to the page. */
  release: () => void
}

/** Holds the keyboard: letters are kept instead of going to what has the focus, Escape calls `onEscape`, and no other key does anything. */
export function holdKeys(onEscape: () => void): HeldKeys {
  let typed = ''
  const onKey = (event: KeyboardEvent) => {
    // A chord is the browser's, and what an input method composes has no place but a field.
    if (event.ctrlKey || event.metaKey || event.isComposing) return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Escape') onEscape()
    else if (event.key === 'Backspace') typed = [...typed].slice(0, -1).join('')
    else if ([...event.key].length === 1) typed += event.key
  }
  window.addEventListener('keydown', onKey, true)
  return { typed: () => typed, release: () => window.removeEventListener('keydown', onKey, true) }
}
