import type { AnyRouter, RouterHistory } from '@tanstack/react-router'
import { afterFrame } from '../ui/after-frame.ts'

/**
 * The first rendering of a screen runs code that the browser has not compiled, so the frame that
 * responds to the press would wait for all of it. The navigation therefore begins after that frame,
 * in which the pressed element is marked (`[data-taken]` in index.css). A screen that was rendered
 * before appears in one frame, and waits for none.
 */
export function answerFirst(router: AnyRouter): void {
  const history: RouterHistory = router.history
  const { push, replace } = history
  const drawn = new Set<string>()
  /** The number of the latest navigation: an earlier one that is still waiting is dropped. */
  let latest = 0
  let pressed: Element | undefined
  addEventListener(
    'click',
    ({ target }) => (pressed = (target as Element | null)?.closest('a, button') ?? undefined),
    { capture: true },
  )
  // A navigation by key (in the palette, say) was not caused by an earlier press.
  addEventListener('keydown', () => (pressed = undefined), { capture: true })

  router.subscribe('onResolved', ({ toLocation }) => drawn.add(screenOf(toLocation.pathname)))
  const screenOf = (pathname: string): string =>
    router.getMatchedRoutes(pathname)[2]?.id ?? pathname

  history.push = (path, ...rest) => {
    const mine = ++latest
    const { pathname } = new URL(path, location.origin)
    if (document.hidden || drawn.has(screenOf(pathname))) return push(path, ...rest)
    const taken = pressed
    taken?.setAttribute('data-taken', '')
    void afterFrame().then(() => {
      taken?.removeAttribute('data-taken')
      if (mine === latest) push(path, ...rest)
    })
  }
  history.replace = (...to) => {
    latest++
    replace(...to)
  }
  addEventListener('popstate', () => latest++)
}
