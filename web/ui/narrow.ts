import { useSyncExternalStore } from 'react'

const watch = (query: string) => {
  const width = window.matchMedia(query)
  const onChange = (listener: () => void) => {
    width.addEventListener('change', listener)
    return () => width.removeEventListener('change', listener)
  }
  return { onChange, matches: () => width.matches }
}
const narrow = watch('(width < 40rem)')
const wide = watch('(width >= 80rem)')

/**
 * Whether the window is narrower than Tailwind's `sm`, measured in the browser's own text size. For
 * heights that a script must know.
 */
export const useNarrow = (): boolean => useSyncExternalStore(narrow.onChange, narrow.matches)

/** Whether it has Tailwind's `xl`: for rows that are too many to be drawn with what they hide. */
export const useWide = (): boolean => useSyncExternalStore(wide.onChange, wide.matches)
