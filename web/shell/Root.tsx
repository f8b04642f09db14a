import { Outlet, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { navigation } from '../pages/load-screen.ts'

/**
 * After each navigation the page begins at its top, and the keyboard and the screen reader at its
 * heading, or in the form that is all that the page is for (`data-begin`).
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
      // A page that was opened by its address begins where the browser begins.
      if (!pathChanged || fromLocation === undefined) return
      window.scrollTo(0, 0)
      // Whoever has opened the palette meanwhile goes on typing there.
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
