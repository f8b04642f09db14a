import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  retryCertificate,
  type CertificateProblem,
  type CertificateState as State,
} from '../../contract/certificates.ts'
import { call, serverMessageOr } from '../api.ts'
import { formatDay, formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { toast } from '../ui/toast.ts'
import { httpsQuery } from './https-query.ts'

const tones: Record<State['state'], Tone> = {
  issued: 'success',
  pending: 'neutral',
  failed: 'warning',
  expired: 'danger',
}

/** Problems that the owner can resolve; for these the authority's own words help. */
const ofOwner: ReadonlySet<CertificateProblem> = new Set([
  'dns',
  'connection',
  'unauthorized',
  'caa',
  'refused',
])

export function CertificateBadge({ certificate }: { certificate: State }) {
  const t = useTexts('site', 'parts')
  return (
    <Badge tone={tones[certificate.state]} dot live={certificate.state === 'pending'}>
      {t.https[certificate.state]}
    </Badge>
  )
}

/**
 * The issuer and end of a name's certificate; or why there is none, what its owner can do, and when
 * the next attempt is.
 */
export function CertificateState({
  serverId,
  certificate,
}: {
  serverId: string
  certificate: State
}) {
  const t = useTexts('site', 'parts')
  const { state, issuer, issuedAt, expiresAt, problem } = certificate
  if (problem)
    return (
      <div className="mt-2 rounded-lg bg-warning-soft px-3 py-2.5 text-xs text-warning">
        {state === 'issued' && expiresAt ? (
          <p className="font-medium">{t.https.notRenewed(formatDay(expiresAt))}</p>
        ) : null}
        <p className="break-words">{t.https.problems[problem.code](problem.detail)}</p>
        {ofOwner.has(problem.code) && problem.detail !== '' ? (
          <p className="mt-1 break-words">{t.https.said(problem.detail)}</p>
        ) : null}
        <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-2">
          <Retry serverId={serverId} name={certificate.name} />
          <span className="num">{t.https.next(formatTime(certificate.nextAt))}</span>
        </div>
      </div>
    )
  if (state === 'pending') return <p className="mt-1 text-xs text-ink-3">{t.https.pendingHint}</p>
  if (issuer === null || issuedAt === null || expiresAt === null) return null
  return (
    <p className="num mt-1 text-xs text-ink-3">
      {t.https.by(issuer, formatDay(issuedAt), formatDay(expiresAt))}
    </p>
  )
}

function Retry({ serverId, name }: { serverId: string; name: string }) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const retry = async () => {
    setBusy(true)
    try {
      const fresh = await call(retryCertificate, { params: { id: serverId, name } })
      queryClient.setQueryData(httpsQuery(serverId).queryKey, fresh)
      toast.success(t.toast.success, t.https.retried)
    } catch (error) {
      toast.error(t.toast.error, serverMessageOr(error, t.https.retryFailed))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button
      variant="outline"
      size="sm"
      shown={may('servers:write')}
      busy={busy}
      onClick={() => void retry()}
    >
      {t.https.retry}
    </Button>
  )
}
