import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ApiError, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import type { LoadInput } from '../load-input.ts'
import { Missing } from '../pages/Missing.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { NoDomain } from './NoDomain.tsx'
import { domainQuery, recordQuery } from './queries.ts'
import { RecordPage } from './RecordPage.tsx'

const route = getRouteApi('/app/dns/domain/$id/record/$recordId')

export const load = ({ queryClient, params }: LoadInput) =>
  queryClient.prefetchQuery(domainQuery(params['id'] ?? ''))

export default function EditRecordPage() {
  const t = useTexts('dns', 'dnsRecord')
  const { id, recordId } = route.useParams()
  const { data, isPending, error, refetch } = useQuery(recordQuery(id, recordId))
  const isGone = error instanceof ApiError && error.status === 404
  // A record is missing, too, where its domain is.
  const domain = useQuery({ ...domainQuery(id), enabled: isGone })
  if (isPending || (isGone && domain.isPending))
    return <SkeletonRows rows={6} className="card p-5" />
  if (isGone && !domain.data)
    return <NoDomain error={domain.error} onRetry={() => void domain.refetch()} />
  if (!data)
    return (
      <section className="card">
        <h1 tabIndex={-1} className="sr-only">
          {t.record.editTitle}
        </h1>
        {isGone ? (
          <Missing text={t.record.notFound}>
            <Link to="/dns/domain/$id" params={{ id }} className={buttonClass()}>
              {t.records.backToRecords}
            </Link>
          </Missing>
        ) : (
          <>
            <LoadError
              text={messageOf(error)}
              retryLabel={t.common.retry}
              onRetry={() => void refetch()}
            />
            <p className="pb-8 text-center">
              <Link to="/dns/domain/$id" params={{ id }} className={buttonClass('outline', 'sm')}>
                {t.records.backToRecords}
              </Link>
            </p>
          </>
        )}
      </section>
    )
  return <RecordPage id={id} record={data} onReload={() => void refetch()} />
}
