import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useTexts } from '../i18n/index.ts'
import type { LoadInput } from '../load-input.ts'
import { buttonClass } from '../ui/Button.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { LoadError, Skeleton } from '../ui/State.tsx'
import { AppCard } from './AppCard.tsx'
import { CodesCard, CodesDialog } from './CodesCard.tsx'
import { DevicesCard } from './DevicesCard.tsx'
import { PasskeysCard } from './PasskeysCard.tsx'
import { securityQuery } from './queries.ts'

export const load = ({ queryClient }: LoadInput) => queryClient.prefetchQuery(securityQuery)

/** The second factor: its methods, recovery codes, and trusted devices. */
export default function SecurityPage() {
  const t = useTexts('security')
  const { data, error, refetch } = useQuery(securityQuery)
  const [codes, setCodes] = useState<string[]>()
  const show = (given: string[] | null) => setCodes(given ?? undefined)
  const has = data !== undefined && (data.totp || data.passkeys.length > 0)
  return (
    <>
      <title>{`${t.security.title} · ${brand}`}</title>
      <PageHead title={t.security.title} sub={t.security.sub}>
        <Link to="/account" className={buttonClass('outline')}>
          {t.security.back}
        </Link>
      </PageHead>
      {data ? (
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <AppCard on={data.totp} onCodes={show} />
          <PasskeysCard passkeys={data.passkeys} origin={data.passkeyOrigin} onCodes={show} />
          {has ? <CodesCard left={data.recoveryCodesLeft} onCodes={show} /> : null}
          {has ? <DevicesCard devices={data.devices} /> : null}
        </div>
      ) : null}
      {!data && error ? (
        <section className="card">
          <LoadError
            text={messageOf(error)}
            retryLabel={t.common.retry}
            onRetry={() => void refetch()}
          />
        </section>
      ) : null}
      {!data && !error ? (
        <div className="grid gap-6 lg:grid-cols-2">
          <Skeleton className="h-64 rounded-xl" />
          <Skeleton className="h-64 rounded-xl" />
        </div>
      ) : null}
      <CodesDialog codes={codes} onClose={() => setCodes(undefined)} />
    </>
  )
}
