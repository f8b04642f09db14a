/**
 * A tab that works in another's account (decision 107). A bar on every page marks it, and it
 * returns to the own account when access ends. Loaded only for such a tab.
 */
import type { QueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { createRoot } from 'react-dom/client'
import { logout } from '../../contract/auth.ts'
import { lock } from '../../contract/lock.ts'
import { call } from '../api.ts'
import { askForServers } from '../realtime/ask-again.ts'
import { session, subscribe } from '../session.ts'
import { lockAfter, watchIdle } from '../shell/idle-lock.ts'
import { onNews, tellTabs } from '../tabs.ts'
import { barStyle } from '../view/bar-style.ts'
import type { AccountOfTab } from './account-of-tab.ts'
import { endedKey } from './ended.ts'
import {
  emptyGroups,
  firstPageOf,
  hiddenFrom,
  hidesOrders,
  hidesTopUps,
  hidesWallet,
  isClosedForm,
} from './role-pages.ts'
import { useTeamTexts } from './texts.ts'

const toldEveryMs = 5_000

function Bar({ of }: { of: AccountOfTab }) {
  const t = useTeamTexts()
  const bar = useRef<HTMLElement>(null)
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
  const leave = () =>
    void call(logout, {})
      .catch(() => {})
      .finally(() => session.close(true))
  return (
    <aside ref={bar} className="view-bar team-bar" aria-label={t.bar}>
      <p>
        <strong>{t.inAccount(of.name)}</strong> {t.asRole(t.roles[of.role])}
      </p>
      <button type="button" onClick={leave}>
        {t.toOwn}
      </button>
    </aside>
  )
}

/** The page there takes the customer's own session from the browser's cookie. */
function goBack(to: string) {
  const ended = session.ended() !== null
  // Typed text belongs to the other account.
  sessionStorage.clear()
  if (ended) sessionStorage.setItem(endedKey, '1')
  location.replace(to)
}

/** Leaves when the session here has ended: by leaving, by the lock, or by the server. */
function follow(token: string | null) {
  if (session.token() !== token || !session.signedIn()) goBack('/account/team')
  else if (session.locked())
    // Locking locks the customer's own session.
    void call(lock, {})
      .catch(() => {})
      .finally(() => goBack('/'))
}

/** Tells the own account's tabs that somebody is active, so that they do not lock themselves. */
function tellOthers(own: string | undefined) {
  let told = 0
  const tell = () => {
    if (lockAfter() === 0 || Date.now() - told < toldEveryMs) return
    told = Date.now()
    tellTabs('active', own === undefined ? undefined : { id: own })
  }
  for (const sign of ['keydown', 'pointerdown', 'pointermove', 'wheel', 'touchstart'])
    window.addEventListener(sign, tell, { passive: true })
}

/** CSS that hides entries for which the role has no use. */
function styleFor(of: AccountOfTab): string {
  const links = hiddenFrom(of).flatMap((to) => [
    `#root nav li:has(> a[href="${to}"])`,
    `#root nav > a[href="${to}"]`,
  ])
  const titles = emptyGroups(of).map((to) => `#root nav p:has(+ ul a[href="${to}"])`)
  const wallet = hidesWallet(of) ? ['#root aside div:has(> p + p + a[href="/payment"])'] : []
  const orders = hidesOrders(of) ? ['#root main a[href$="/create"]'] : []
  const topUps = hidesTopUps(of)
    ? ['main', 'aside'].flatMap((part) =>
        ['="/payment"', '^="/payment?"'].map((to) => `#root ${part} a[href${to}]`),
      )
    : []
  const hidden = [...links, ...titles, ...wallet, ...orders, ...topUps].join(',')
  return `${barStyle}.team-bar { background: #1e3a8a; }
${hidden === '' ? '' : `${hidden} { display: none; }`}`
}

/** Shows the bar, and keeps the tab in this account. */
export function startActing(told: string, queryClient: QueryClient): void {
  const of = JSON.parse(told) as AccountOfTab
  // No link leads there, so the address was typed.
  if (isClosedForm(of, location.pathname)) return location.replace(firstPageOf(of))
  const token = session.token()
  subscribe(() => follow(token))
  follow(token)
  onNews(({ kind, id }) => {
    if (id === of.own && (kind === 'locked' || kind === 'out')) goBack('/')
  })
  watchIdle()
  askForServers(queryClient)
  tellOthers(of.own)
  const style = new CSSStyleSheet()
  style.replaceSync(styleFor(of))
  document.adoptedStyleSheets.push(style)
  const host = document.createElement('div')
  // The bar is rendered inside the page, so that it stays at its top.
  host.style.display = 'contents'
  document.body.prepend(host)
  createRoot(host).render(<Bar of={of} />)
}
