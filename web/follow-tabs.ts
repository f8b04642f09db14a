/** Reacts to what other tabs of this browser do with the shared session. */
import type { QueryClient } from '@tanstack/react-query'
import { heldSession, takeUp } from './resume.ts'
import type { createPortalRouter } from './routes.tsx'
import { ending, returnPath, session } from './session.ts'
import { onNews } from './tabs.ts'

type Router = ReturnType<typeof createPortalRouter>

/**
 * Another tab signed in. A tab on the sign-in page continues; a tab with another session starts
 * again.
 */
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
  // The same customer may have signed in again: the drafts wait for the new page.
  ending.keep(session.user()?.id)
  session.hold(found)
  location.reload()
}
/** Another tab unlocked the session, which continues under a new cookie. */
async function followUnlock() {
  const found = await heldSession()
  if (!found || found.locked) return
  session.hold(found)
  location.reload()
}
/**
 * A view, or work in another's account, must show its bar. If the bar cannot be loaded, the tab's
 * session is closed.
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
  // A view or acting tab has a session of its own, so it ignores the other tabs.
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
