import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import type { Server } from '../../contract/wordpress.ts'
import { adminLink } from '../../contract/wordpress-server.ts'
import { Attempt, serverMessageOr } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Button } from '../ui/Button.tsx'
import { toast } from '../ui/toast.ts'

/** Opens wp-admin signed in, by a one-time link. */
export function AdminButton({ server }: { server: Server }) {
  const t = useTexts('site')
  const [attempt] = useState(() => new Attempt())
  const [busy, setBusy] = useState(false)
  const open = async () => {
    // Opened during the click, because a browser blocks tabs that are opened later. The tab must
    // not reach back to this page.
    const tab = window.open('about:blank', '_blank')
    if (tab) tab.opener = null
    setBusy(true)
    try {
      const { url } = await attempt.run(adminLink, { params: { id: server.id } })
      if (tab) tab.location.replace(url)
      else location.assign(url)
    } catch (error) {
      tab?.close()
      toast.error(t.toast.error, serverMessageOr(error, t.site.adminFailed))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button
      shown={may('servers:write')}
      busy={busy}
      title={t.site.adminOnce}
      onClick={() => void open()}
    >
      {t.site.admin}
      <ExternalLink aria-hidden className="size-4" />
    </Button>
  )
}
