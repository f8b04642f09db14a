import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, type KeyboardEvent } from 'react'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { cx } from '../ui/cx.ts'
import { openTabs, siteTabs, type SiteTab } from './site-tabs.ts'
import { tabNames } from './tab-names.ts'

/** In which of the two rows a tab stands (decision 159). */
const groupOf = (tab: SiteTab) =>
  siteTabs.indexOf(tab) < siteTabs.indexOf('speed') ? 'server' : 'site'

/** The address contains the tab, so that a reload and a shared link keep it. */
export function SiteTabs({ current }: { current: SiteTab }) {
  const t = useTexts('site')
  const navigate = useNavigate()
  const tabs = openTabs(may('servers:write'))
  const list = useRef<HTMLDivElement>(null)
  const names = tabNames(t)
  // On phones a row is wider than the screen.
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>(`#tab-${current}`)
    const row = tab?.parentElement
    // Scrolls only the row, not the page.
    if (row)
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
    const at = tabs.indexOf(current)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = tabs.at(to % tabs.length)
    if (!next) return
    show(next)
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus()
  }
  return (
    // oxlint-disable-next-line jsx-a11y/interactive-supports-focus
    <div ref={list} role="tablist" aria-label={t.site.tabs} onKeyDown={onKeyDown}>
      {(['server', 'site'] as const).map((group) => (
        <div
          key={group}
          role="presentation"
          className="flex border-b border-border max-sm:flex-col sm:items-center"
        >
          <span
            aria-hidden
            data-group={t.site.tabGroups[group]}
            className={
              'shrink-0 pl-5 text-xs text-ink-3 before:content-[attr(data-group)] max-sm:pt-2 ' +
              'sm:w-28 sm:pl-6'
            }
          />
          <div
            role="presentation"
            className={
              'row-with-more flex min-w-0 flex-1 gap-6 overflow-x-auto overflow-y-hidden px-5 ' +
              'sm:pr-6 sm:pl-0'
            }
          >
            {tabs
              .filter((tab) => groupOf(tab) === group)
              .map((tab) => (
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
                    'h-11 shrink-0 border-b-2 text-sm font-medium whitespace-nowrap ' +
                      'transition-colors',
                    tab === current
                      ? 'border-primary text-ink'
                      : 'border-transparent text-ink-3 hover:text-ink',
                  )}
                >
                  {names[tab]}
                </button>
              ))}
          </div>
        </div>
      ))}
    </div>
  )
}
