import { useSyncExternalStore } from 'react'

const narrow = window.matchMedia('(width < 40rem)')
const onNarrow = (listener: () => void) => {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/**
 * Whether the window is narrower than Tailwind's `sm`, which counts in the browser's own text size:
 * for heights that a script has to know.
 */
export const useNarrow = (): boolean => useSyncExternalStore(onNarrow, () => narrow.matches)
