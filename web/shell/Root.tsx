import { Outlet, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { navigation } from '../pages/load-screen.ts'

/**
 * After each navigation the page scrolls to its top, and the focus goes to its heading, or to the
 * form that is the page's purpose (`data-begin`).
 */
export function Root() {
  const router = useRouter()
  useEffect(() => {
    navigation.underWay = false
    const before = router.subscribe('onBeforeNavigate', () => {
      navigation.underWay = true
    })
    const resolved = router.subscribe('onResolved', ({ pathChanged, fromLocation }) => {
      navigation.underWay = false
      // A page that was opened by its address keeps the browser's own scroll position and focus.
      if (!pathChanged || fromLocation === undefined) return
      window.scrollTo(0, 0)
      // If the palette was opened meanwhile, its field keeps the focus.
      if (document.activeElement?.closest('dialog')) return
      const begin =
        document.querySelector<HTMLElement>('[data-begin] input') ?? document.querySelector('h1')
      begin?.focus({ preventScroll: true })
    })
    return () => {
      before()
      resolved()
    }
  }, [router])
  return <Outlet />
}
