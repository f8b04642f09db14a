/**
 * A tab that works in the account of another (decision 107): marked by a bar on every page, and led
 * back to the own account when access ends. Loaded for such a tab alone.
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
    // As high as its words are, which wrap on a phone.
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

/** The own session is taken up from the browser's cookie there. */
function goBack(to: string) {
  const ended = session.ended() !== null
  // What was typed here belongs to the other account.
  sessionStorage.clear()
  if (ended) sessionStorage.setItem(endedKey, '1')
  location.replace(to)
}

/** Whatever ended here: leaving, the lock, or the server's word. */
function follow(token: string | null) {
  if (session.token() !== token || !session.signedIn()) goBack('/account/team')
  else if (session.locked())
    // The lock is that of the own session.
    void call(lock, {})
      .catch(() => {})
      .finally(() => goBack('/'))
}

/** Somebody is at this tab: the tabs of the own account do not lock themselves meanwhile. */
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

/** Entries that the role has no use for are not drawn. */
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

/** Shows the bar, and keeps to this account. */
export function startActing(told: string, queryClient: QueryClient): void {
  const of = JSON.parse(told) as AccountOfTab
  // Nothing leads there: the address was typed.
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
  // The bar itself stands in the page, so that it stays at its top.
  host.style.display = 'contents'
  document.body.prepend(host)
  createRoot(host).render(<Bar of={of} />)
}
