import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, type KeyboardEvent } from 'react'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { cx } from '../ui/cx.ts'
import { openTabs, type SiteTab } from './site-tabs.ts'
import { tabNames } from './tab-names.ts'

/** The address contains the tab, so that a reload and a shared link keep it. */
export function SiteTabs({ current }: { current: SiteTab }) {
  const t = useTexts('site')
  const navigate = useNavigate()
  const tabs = openTabs(may('servers:write'))
  const list = useRef<HTMLDivElement>(null)
  const names = tabNames(t)
  // On phones the row is wider than the screen.
  useEffect(() => {
    const row = list.current
    const tab = row?.querySelector<HTMLElement>(`#tab-${current}`)
    // Scrolls only the row, not the page.
    if (row && tab)
      row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2
  }, [current])
  const show = (tab: SiteTab) =>
    void navigate({
      to: '.',
      search: tab === 'general' ? {} : { tab },
      replace: true,
      resetScroll: false,
    })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return
    const step = event.key === 'ArrowRight' ? 1 : -1
    event.preventDefault()
    const next = tabs[(tabs.indexOf(current) + step + tabs.length) % tabs.length]
    if (!next) return
    show(next)
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus()
  }
  return (
    // oxlint-disable-next-line jsx-a11y/interactive-supports-focus
    <div
      ref={list}
      role="tablist"
      aria-label={t.site.tabs}
      onKeyDown={onKeyDown}
      className={
        'row-with-more flex gap-6 overflow-x-auto overflow-y-hidden border-b border-border px-5 ' +
        'sm:px-6'
      }
    >
      {tabs.map((tab) => (
        <button
          key={tab}
          id={`tab-${tab}`}
          type="button"
          role="tab"
          aria-selected={tab === current}
          aria-controls={`panel-${tab}`}
          tabIndex={tab === current ? 0 : -1}
          onClick={() => show(tab)}
          className={cx(
            'h-11 shrink-0 border-b-2 text-sm font-medium whitespace-nowrap transition-colors',
            tab === current
              ? 'border-primary text-ink'
              : 'border-transparent text-ink-3 hover:text-ink',
          )}
        >
          {names[tab]}
        </button>
      ))}
    </div>
  )
}
