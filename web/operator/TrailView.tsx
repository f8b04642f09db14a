import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { verifyTrail } from '../../contract/operator-desk.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { LoadMore } from '../ui/LoadMore.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { call } from './api.ts'
import { Changes } from './Changes.tsx'
import { timeOf, useDeskTexts } from './language.ts'
import { DeskLink } from './path.tsx'
import { trailQuery, type TrailFilter } from './queries.ts'
import { TrailFilterForm } from './TrailFilter.tsx'

/** The act that erases a closed account. The portal does it, not a member of the staff. */
const erased = 'customer.erased'

/** All acts that the filter lets through, newest first, and whether their hash chain is intact. */
export function TrailView() {
  const t = useDeskTexts()
  const [filter, setFilter] = useState<TrailFilter>({})
  const list = useInfiniteQuery(trailQuery(filter))
  const { data, error, refetch } = list
  const check = useMutation({ mutationFn: () => call(verifyTrail, {}) })
  const acts = data?.pages.flatMap(({ result }) => result)
  const [broken] = check.data?.findings ?? []
  return (
    <>
      <PageHead title={t.trail.title} sub={t.trail.sub}>
        <Button variant="outline" busy={check.isPending} onClick={() => check.mutate()}>
          <ShieldCheck aria-hidden className="size-4" />
          {t.trail.verify}
        </Button>
      </PageHead>
      {check.data ? (
        <Note tone={broken ? 'danger' : 'success'} role="alert" className="mb-5">
          {broken
            ? `${t.trail.broken(broken.seq)} ${broken.fault}`
            : t.trail.whole(check.data.acts)}
          <span className="mt-1 block font-mono text-2xs break-all">
            {`${t.trail.head}: ${check.data.head || '–'}`}
          </span>
        </Note>
      ) : null}
      {check.error ? (
        <Note tone="danger" role="alert" className="mb-5">
          {check.error.message}
        </Note>
      ) : null}
      <TrailFilterForm onChange={setFilter} />
      <Card padded={false}>
        {error && !data ? (
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        ) : null}
        {(data ?? error) ? null : <SkeletonRows className="p-5" />}
        {acts?.length === 0 ? <p className="p-5 text-sm text-ink-3">{t.none}</p> : null}
        <ul>
          {acts?.map((one) => (
            <li
              key={one.seq}
              className={
                'grid gap-x-6 gap-y-1 border-t border-border px-5 py-3 first:border-0 ' +
                'md:grid-cols-[13rem_1fr_1fr]'
              }
            >
              <span className="num text-xs text-ink-3">
                <span className="block">{`${one.seq} · ${timeOf(one.at)}`}</span>
                <span className="block text-sm text-ink">
                  {one.act === erased ? (t.trail.erasers[one.actor] ?? one.actor) : one.actor}
                </span>
                {one.approvedBy === null ? null : (
                  <span className="block">{t.trail.with(one.approvedBy)}</span>
                )}
                {one.act === erased ? null : <span className="block">{one.address}</span>}
              </span>
              <span className="min-w-0">
                <span className="block text-sm font-medium">{t.acts[one.act] ?? one.act}</span>
                <span className="block text-sm break-words text-ink-2">{one.reason}</span>
                {one.customerId === null ? null : (
                  <DeskLink
                    to={`/customers/${one.customerId}`}
                    className="text-sm text-primary-ink hover:underline"
                  >
                    {one.customerName ?? t.trail.customer}
                  </DeskLink>
                )}
              </span>
              <Changes before={one.before} after={one.after} />
            </li>
          ))}
        </ul>
        <LoadMore
          list={list}
          label={t.more}
          failedText={error?.message ?? ''}
          retryLabel={t.retry}
          className="border-t border-border p-4"
        />
      </Card>
    </>
  )
}
