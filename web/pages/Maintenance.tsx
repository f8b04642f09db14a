import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { status } from '../../contract/status.ts'
import { call } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { returnPath } from '../session.ts'
import { statusQuery, timesOf, useStatusTexts } from '../status/status.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { StatusPage } from './StatusPage.tsx'

const route = getRouteApi('/pages/maintenence')
const checkEveryMs = 10_000

/** Returns to where the customer was as soon as the portal answers again. */
export default function Maintenance() {
  const t = useTexts()
  const router = useRouter()
  const { from } = route.useSearch()
  const [busy, setBusy] = useState(false)
  const told = useStatusTexts()
  const notice = useQuery(statusQuery).data?.now.find(({ closes }) => closes)

  const look = async () => {
    setBusy(true)
    try {
      const { now } = await call(status, {})
      if (now.some(({ closes }) => closes)) return setBusy(false)
      router.history.replace(returnPath(from))
    } catch {
      setBusy(false)
    }
  }
  useEffect(() => {
    // Without a page to return to, the page was opened directly and does not poll.
    if (from === undefined) return
    const timer = setInterval(() => void look(), checkEveryMs)
    return () => clearInterval(timer)
  })

  return (
    <StatusPage
      title={notice?.title ?? t.pages.maintenance}
      text={notice ? `${notice.text} ${told.closes}` : t.pages.maintenanceText}
    >
      {notice ? <p className="num basis-full text-sm text-ink-3">{timesOf(notice, told)}</p> : null}
      <Button busy={busy} onClick={() => void look()}>
        {t.common.retry}
      </Button>
      {notice ? (
        <a href="/status" className={buttonClass('outline')}>
          {told.more}
        </a>
      ) : null}
    </StatusPage>
  )
}
