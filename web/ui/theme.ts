import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark' | 'system'

/** theme.js sets the class before the first paint; after that this file does. */
const listeners = new Set<() => void>()
const current = (): Theme =>
  (document.documentElement.dataset['theme'] as Theme | undefined) ?? 'system'
const prefersDark = () => matchMedia('(prefers-color-scheme: dark)')

function apply(theme: Theme) {
  const dark = theme === 'dark' || (theme === 'system' && prefersDark().matches)
  document.documentElement.dataset['theme'] = theme
  document.documentElement.classList.toggle('dark', dark)
  document.body.classList.toggle('dark', dark)
  for (const listener of listeners) listener()
}

/**
 * Ends running colour transitions: otherwise everything that fades under the pointer would fade now
 * too, in ten frames that each restyle the page.
 */
function withoutFading() {
  for (const running of document.getAnimations())
    if (running instanceof CSSTransition) running.finish()
}

export function setTheme(theme: Theme) {
  try {
    localStorage.setItem('theme', theme)
  } catch {
    // Storage may be blocked; the choice then lasts as long as the page.
  }
  apply(theme)
  withoutFading()
}

/** Sets the class on the body too, and follows the system's theme from now on. */
export function startTheme() {
  apply(current())
  prefersDark().addEventListener('change', () => {
    if (current() === 'system') apply('system')
  })
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
export const useTheme = (): Theme => useSyncExternalStore(subscribe, current)
