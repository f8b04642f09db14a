import { getRouteApi, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { config } from '../../contract/system.ts'
import { call } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { returnPath } from '../session.ts'
import { Button } from '../ui/Button.tsx'
import { StatusPage } from './StatusPage.tsx'

const route = getRouteApi('/pages/maintenence')
const checkEveryMs = 10_000

/** Returns to where the customer was as soon as the portal answers again. */
export default function Maintenance() {
  const t = useTexts()
  const router = useRouter()
  const { from } = route.useSearch()
  const [busy, setBusy] = useState(false)

  const look = async () => {
    setBusy(true)
    try {
      await call(config, {})
      router.history.replace(returnPath(from))
    } catch {
      setBusy(false)
    }
  }
  useEffect(() => {
    // Without a page to return to it is only being looked at.
    if (from === undefined) return
    const timer = setInterval(() => void look(), checkEveryMs)
    return () => clearInterval(timer)
  })

  return (
    <StatusPage title={t.pages.maintenance} text={t.pages.maintenanceText}>
      <Button busy={busy} onClick={() => void look()}>
        {t.common.retry}
      </Button>
    </StatusPage>
  )
}
