import { useSyncExternalStore } from 'react'

const narrow = window.matchMedia('(width < 40rem)')
const onNarrow = (listener: () => void) => {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/**
 * Whether the window is narrower than Tailwind's `sm`, measured in the browser's own text size. For
 * heights that a script must know.
 */
export const useNarrow = (): boolean => useSyncExternalStore(onNarrow, () => narrow.matches)
