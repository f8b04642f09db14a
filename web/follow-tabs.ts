/** Follows what the other tabs of this browser do with the session that they share. */
import type { QueryClient } from '@tanstack/react-query'
import { heldSession, takeUp } from './resume.ts'
import type { createPortalRouter } from './routes.tsx'
import { ending, returnPath, session } from './session.ts'
import { onNews } from './tabs.ts'

type Router = ReturnType<typeof createPortalRouter>

/** Another tab signed in. Who waits at the sign-in goes on; who has another session begins anew. */
async function followSignIn(router: Router) {
  const here = router.latestLocation
  if (!session.signedIn()) {
    if (here.pathname !== '/login') return
    await takeUp()
    if (session.signedIn())
      router.history.push(returnPath(new URLSearchParams(here.searchStr).get('next') ?? undefined))
    return
  }
  const found = await heldSession()
  if (!found || found.id === session.held()?.id) return
  // The same customer may have signed in again: what they typed here waits for the new page.
  ending.keep(session.user()?.id)
  session.hold(found)
  location.reload()
}
/** Another tab unlocked the session: it goes on under a new cookie. */
async function followUnlock() {
  const found = await heldSession()
  if (!found || found.locked) return
  session.hold(found)
  location.reload()
}
/**
 * Nobody looks, or works in the account of another, without the bar that says so: without it there
 * is no view.
 */
async function showBar(told: string, queryClient: QueryClient) {
  const isWork = 'role' in (JSON.parse(told) as object)
  try {
    if (isWork) (await import('./team/bar.tsx')).startActing(told, queryClient)
    else (await import('./view/bar.tsx')).startView(queryClient)
  } catch {
    session.close(true)
    location.replace(isWork ? '/account/team' : '/see')
  }
}
export function followTabs(router: Router, queryClient: QueryClient): void {
  // Its session is its own: what the others do is none of its business.
  const told = session.view()
  if (told !== null) return void showBar(told, queryClient)
  onNews(({ kind, id }) => {
    if (kind === 'in') return void followSignIn(router)
    if (id !== session.held()?.id) return
    if (kind === 'locked' && !session.locked()) session.lock()
    else if (kind === 'unlocked' && session.locked()) void followUnlock()
    else if (kind === 'out') {
      session.close(true)
      void router.navigate({ to: '/login' }).then(() => queryClient.clear())
    }
  })
}
