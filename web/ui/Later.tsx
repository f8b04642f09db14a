import { useDeferredValue, type ReactNode } from 'react'

/**
 * False while a screen is drawn for the first time, true in the drawing right after it, which the browser may interrupt: for what is not seen
 * first, so that a press of the menu is answered before a slow processor has built all of a long page.
 */
export const useLater = (): boolean => useDeferredValue(true, false)

interface LaterProps {
  /** Height of what comes, where it is known: nothing else moves then. */
  px?: number
  children: () => ReactNode
}

/** Its children, in the second drawing; until then their place. */
export function Later({ px, children }: LaterProps) {
  if (useLater()) return children()
  return <div aria-hidden data-later style={px === undefined ? undefined : { height: px }} />
}
