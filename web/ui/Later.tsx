import { useDeferredValue, type ReactNode } from 'react'

/**
 * Until the user has interacted with the page, the screen that the page opens with is rendered in
 * one go.
 */
let pressed = false
for (const sign of ['pointerdown', 'keydown'])
  addEventListener(sign, () => (pressed = true), { capture: true, once: true })

/**
 * False while a screen is drawn for the first time, true in the drawing right after it, which the
 * browser may interrupt: for what is not seen first, so that a press of the menu is answered before
 * a slow processor has built all of a long page. Inside another one it is true at once: there are
 * two drawings, never three.
 */
export const useLater = (): boolean => useDeferredValue(true, !pressed)

/** Its children, in the second drawing. */
export function Later({ children }: { children: () => ReactNode }) {
  return useLater() ? children() : <div aria-hidden data-later />
}
