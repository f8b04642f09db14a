import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeHttps, type SiteHttps } from '../../contract/certificates.ts'
import { call, serverMessageOr } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Switch } from '../ui/Switch.tsx'
import { toast } from '../ui/toast.ts'
import { httpsQuery } from './https-query.ts'

/** Whether browsers must use HTTPS: offered once one of the customer's names has HTTPS. */
export function HttpsOnly({ serverId, https }: { serverId: string; https: SiteHttps }) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const choose = async (httpsOnly: boolean) => {
    setBusy(true)
    try {
      const fresh = await call(changeHttps, { params: { id: serverId }, body: { httpsOnly } })
      queryClient.setQueryData(httpsQuery(serverId).queryKey, fresh)
      toast.success(t.toast.success, httpsOnly ? t.https.onlyOn : t.https.onlyOff)
    } catch (error) {
      toast.error(t.toast.error, serverMessageOr(error, t.https.onlyFailed))
    } finally {
      setBusy(false)
    }
  }
  return (
    <section aria-labelledby="https-only" className="max-w-xl">
      <h3 id="https-only" className="mb-3 text-sm font-semibold">
        {t.https.title}
      </h3>
      <Switch
        label={t.https.only}
        hint={t.https.onlyHint}
        checked={https.httpsOnly === true}
        disabled={!may('servers:write')}
        busy={busy}
        onChange={(checked) => void choose(checked)}
      />
    </section>
  )
}
