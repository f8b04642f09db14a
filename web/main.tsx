/** Opens the portal: language, then router. */
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { onOutage } from './api.ts'
import { preferredLanguage, setLanguage } from './i18n/index.ts'
import './index.css'
import { createQueryClient } from './queries.ts'
import { createPortalRouter } from './routes.tsx'
import { ending, session } from './session.ts'
import { startTheme } from './ui/theme.ts'

startTheme()
const queryClient = createQueryClient()
const router = createPortalRouter(queryClient)

onOutage.signedOut = () => {
  if (!session.signedIn()) return
  session.close(false)
  const here = router.latestLocation
  void router
    .navigate({
      to: '/login',
      search: here.pathname.startsWith('/login') ? {} : { next: here.href },
    })
    .then(() => queryClient.clear())
}
onOutage.unavailable = () => {
  const here = router.latestLocation
  if (here.pathname.startsWith('/pages/')) return
  // Typed text is stored until the customer comes back.
  ending.keep(session.user()?.id)
  void router.navigate({ to: '/pages/maintenence', search: { from: here.href }, replace: true })
}
onOutage.asksAgain = async () => await (await import('./security/ask-again.tsx')).askAgain()

/** Milliseconds that the page's own skeleton stays while data is late. */
const patienceMs = 200

async function open() {
  const root = document.getElementById('root')
  if (!root) throw new Error('index.html has no #root')
  await setLanguage(preferredLanguage(), false)
  // Waits for the screen and its data first, so that it is rendered once, and in small pieces that
  // leave time for input.
  await Promise.race([router.load(), new Promise((resolve) => setTimeout(resolve, patienceMs))])
  startTransition(() =>
    createRoot(root).render(
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>,
    ),
  )
}
void open()
  // If this file does not load, the tab does not hear other tabs; its next call to the server tells
  // it instead.
  .then(() => import('./follow-tabs.ts'))
  .then(
    ({ followTabs }) => followTabs(router, queryClient),
    () => {},
  )
