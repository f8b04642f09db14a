import { useSyncExternalStore } from 'react'

const narrow = window.matchMedia('(max-width: 639.98px)')
const onNarrow = (listener: () => void) => {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/** Whether the window is narrower than Tailwind's `sm`: for heights that a script has to know. */
export const useNarrow = (): boolean => useSyncExternalStore(onNarrow, () => narrow.matches)
