import { useDeferredValue, type ReactNode } from 'react'

/**
 * Until the user has interacted with the page, the screen that the page opens with is rendered in
 * one go.
 */
let pressed = false
for (const sign of ['pointerdown', 'keydown'])
  addEventListener(sign, () => (pressed = true), { capture: true, once: true })

/**
 * False in a screen's first rendering, true in the rendering after it, which the browser may
 * interrupt. It is for content that is not seen first, so that a press of the menu is answered
 * before a slow processor has built a long page. Inside another such part it is true at once: there
 * are two renderings, never three.
 */
export const useLater = (): boolean => useDeferredValue(true, !pressed)

/** Renders its children in the second rendering. */
export function Later({ children }: { children: () => ReactNode }) {
  return useLater() ? children() : <div aria-hidden data-later />
}
