import type { AnyRouter, RouterHistory } from '@tanstack/react-router'
import { afterFrame } from '../ui/after-frame.ts'

/**
 * A screen that was not drawn since the page was opened runs code that the browser has not
 * compiled: the frame that answers the press would wait for all of it. So the way there begins
 * behind that frame, in which what was pressed is seen to be taken (`[data-taken]` in index.css). A
 * screen that was drawn before is there in one frame, and waits for none.
 */
export function answerFirst(router: AnyRouter): void {
  const history: RouterHistory = router.history
  const { push, replace } = history
  const drawn = new Set<string>()
  /** The latest wish counts: what was pressed before it leads nowhere any more. */
  let latest = 0
  let pressed: Element | undefined
  addEventListener(
    'click',
    ({ target }) => (pressed = (target as Element | null)?.closest('a, button') ?? undefined),
    { capture: true },
  )
  // What a key leads to (in the palette, say) was not asked for by an earlier press.
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
