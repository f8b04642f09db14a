/**
 * A tab in which a member of the staff sees the portal as a customer does (decision 104). A bar on
 * every page marks it, and it returns to the view's start page when the view ends. Loaded only for
 * such a tab.
 */
import type { QueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { logout } from '../../contract/auth.ts'
import { call } from '../api.ts'
import { enView } from '../i18n/en-view.ts'
import { useLanguage } from '../i18n/index.ts'
import { viView } from '../i18n/vi-view.ts'
import { askForServers } from '../realtime/ask-again.ts'
import { session, subscribe } from '../session.ts'
import { barStyle } from './bar-style.ts'
import type { ViewOfTab } from './view-of-tab.ts'

const everyMs = 5_000
const minutesLeft = ({ expiresAt }: ViewOfTab): number =>
  Math.max(0, Math.ceil((Date.parse(expiresAt) - Date.now()) / 60_000))

/** The view also ends on the server, but leaving does not wait for that. */
function leave() {
  call(logout, {}).catch(() => {})
  session.close(true)
}

function Bar({ view }: { view: ViewOfTab }) {
  const t = useLanguage() === 'vi' ? viView : enView
  const bar = useRef<HTMLElement>(null)
  const [left, setLeft] = useState(() => minutesLeft(view))
  useEffect(() => {
    const look = () => {
      const now = minutesLeft(view)
      setLeft(now)
      if (now === 0) leave()
    }
    const timer = setInterval(look, everyMs)
    // Checked when the page becomes visible, because the machine may have slept.
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [view])
  useEffect(() => {
    const element = bar.current
    if (element === null) return
    // The bar's height, which depends on how its text wraps.
    const measured = new ResizeObserver(() =>
      document.documentElement.style.setProperty('--view-bar', `${element.offsetHeight}px`),
    )
    measured.observe(element)
    return () => measured.disconnect()
  }, [])
  return (
    <aside ref={bar} className="view-bar" aria-label={t.label}>
      <p>
        <strong>{t.sees(view.name)}</strong> {t.nothing}
      </p>
      <span>{t.left(left)}</span>
      <button type="button" onClick={leave}>
        {t.leave}
      </button>
    </aside>
  )
}

/** Leaves when the session here has ended: by signing out, by leaving, or by the server. */
function follow(token: string | null) {
  // A view has no password for unlocking.
  if (session.locked() && token !== null) session.open(token)
  else if (session.token() !== token || !session.signedIn()) {
    // Typed text belongs to nobody, so it is removed.
    sessionStorage.clear()
    location.replace('/see')
  }
}

/** Shows the bar, and keeps the tab in this view. */
export function startView(queryClient: QueryClient): void {
  const told = session.view()
  if (told === null) return
  const view = JSON.parse(told) as ViewOfTab
  const token = session.token()
  subscribe(() => follow(token))
  follow(token)
  askForServers(queryClient)
  const style = new CSSStyleSheet()
  style.replaceSync(barStyle)
  document.adoptedStyleSheets.push(style)
  const host = document.createElement('div')
  // The bar is rendered inside the page, so that it stays at its top.
  host.style.display = 'contents'
  document.body.prepend(host)
  createRoot(host).render(<Bar view={view} />)
}
