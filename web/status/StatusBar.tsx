import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import type { Notice, Status } from '../../contract/status.ts'
import { IconButton } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Note } from '../ui/State.tsx'
import { NotLoadedNote, OfflineNote, useOnline } from './offline.tsx'
import { statusQuery, timesOf, tones, useStatusTexts } from './status.ts'

const store = 'dismissedNotices'
/** Maintenance is announced this long before it begins, ms. */
const toldBeforeMs = 7 * 86_400_000

/** As wide as the page below. */
const width = 'mx-auto w-full max-w-[1116px]'

/** Identifies a dismissed notice; a new update makes it appear again. */
const markOf = ({ id, updates }: Notice): string => `${id} ${updates.length}`
function readDismissed(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(store) ?? '[]')
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

function onTop({ now, coming }: Status): Notice[] {
  const soon = Date.now() + toldBeforeMs
  const next = coming.filter(
    ({ kind, startsAt }) => kind === 'maintenance' && Date.parse(startsAt) < soon,
  )
  return [...now, ...next]
}

/**
 * Shown above every screen: present notices, maintenance of the next days, and that a page waits
 * for a connection.
 */
export default function StatusBar() {
  const t = useStatusTexts()
  const isOnline = useOnline()
  const { data } = useQuery({ ...statusQuery, select: onTop })
  const [dismissed, setDismissed] = useState(readDismissed)
  const [place] = useState(() => document.createElement('div'))
  useEffect(() => {
    document.querySelector('#main')?.before(place)
    return () => place.remove()
  }, [place])
  const told = (data ?? []).filter((notice) => !dismissed.includes(markOf(notice)))
  if (told.length === 0 && isOnline) return null
  const dismiss = (notice: Notice): void => {
    const marks = [...dismissed.slice(-50), markOf(notice)]
    setDismissed(marks)
    try {
      localStorage.setItem(store, JSON.stringify(marks))
    } catch {
      // Without storage it is dismissed as long as the page lives.
    }
  }
  return createPortal(
    <>
      {isOnline ? null : <OfflineNote />}
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an output is no box */}
      <div role="status" className="no-print grid gap-2 px-4 pt-4 empty:hidden sm:px-6 lg:px-8">
        {isOnline ? null : <NotLoadedNote className={width} />}
        {told.map((notice) => (
          <Note
            key={notice.id}
            tone={tones[notice.kind]}
            className={cx(width, 'flex items-start gap-3')}
          >
            <p className="min-w-0 flex-1 self-center break-words">
              <strong className="font-semibold">{notice.title}</strong>
              <span className="num ml-2 text-xs whitespace-nowrap">{timesOf(notice, t)}</span>
              <a href="/status" className="ml-2 underline underline-offset-2">
                {t.more}
              </a>
            </p>
            <IconButton label={`${t.dismiss}: ${notice.title}`} onClick={() => dismiss(notice)}>
              <X aria-hidden className="size-4" />
            </IconButton>
          </Note>
        ))}
      </div>
    </>,
    place,
  )
}
