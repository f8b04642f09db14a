/**
 * A tab in which a member of the staff sees the portal as a customer does (decision 104): marked by
 * a bar on every page, and led back to where the view began when it ends. Loaded for such a tab
 * alone.
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

/** It ends on the server too, but nobody waits for that. */
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
    // A machine that slept.
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [view])
  useEffect(() => {
    const element = bar.current
    if (element === null) return
    // As high as its words are, which wrap on a phone.
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

/** Whatever ended the session here: signing out, leaving, or the server's word. */
function follow(token: string | null) {
  // Who only looks has no password to unlock it with.
  if (session.locked() && token !== null) session.open(token)
  else if (session.token() !== token || !session.signedIn()) {
    // What was typed here is nobody's.
    sessionStorage.clear()
    location.replace('/see')
  }
}

/** Shows the bar, and keeps to this view. */
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
  // The bar itself stands in the page, so that it stays at its top.
  host.style.display = 'contents'
  document.body.prepend(host)
  createRoot(host).render(<Bar view={view} />)
}
