import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { LoadError, Note, SkeletonRows } from '../../ui/State.tsx'
import { dayOf, timeOf, useDeskTexts } from '../language.ts'
import { upkeepQuery } from '../queries.ts'
import { Row, Rows } from './NowView.tsx'

/** What servers and domains need besides running: certificates, backups, delegation. */
export function UpkeepView() {
  const t = useDeskTexts()
  const words = t.work.upkeep
  const { data, error, refetch } = useQuery(upkeepQuery)
  const isWell = data && data.certificates.length + data.backups.length + data.domains.length === 0
  const of = (customer: { readonly email: string } | null): string =>
    customer === null ? '' : `${customer.email} · `
  const names = (list: readonly string[]): string =>
    list.length === 0 ? words.nothing : list.join(', ')
  return (
    <>
      <PageHead title={words.title} sub={words.sub} />
      {error && !data ? (
        <Card>
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        </Card>
      ) : null}
      {(data ?? error) ? null : <SkeletonRows />}
      {isWell ? (
        <Note tone="success" className="flex items-center gap-2">
          <CircleCheck aria-hidden className="size-4" />
          {words.allWell}
        </Note>
      ) : null}
      <div className="grid gap-5">
        <Rows title={words.certificates}>
          {data?.certificates.map((one): ReactNode => {
            const good = one.goodUntil === null ? '' : ` · ${words.good(dayOf(one.goodUntil))}`
            return (
              <Row
                key={one.name}
                main={one.name}
                sub={
                  `${of(one.customer)}${t.work.attempts(one.attempts)} · ` +
                  `${words.next(timeOf(one.nextAt))}${good}`
                }
                why={one.detail === '' ? one.problem : one.detail}
                search={one.name}
              />
            )
          })}
        </Rows>
        <Rows title={words.backups}>
          {data?.backups.map((one) => (
            <Row
              key={one.id}
              main={one.server}
              sub={
                `${of(one.customer)}${timeOf(one.at)} · ` +
                (one.provenSince === null ? words.notProven : words.proven(timeOf(one.provenSince)))
              }
              why={one.why ?? ''}
              search={one.serverId}
            />
          ))}
        </Rows>
        <Rows title={words.domains}>
          {data?.domains.map((one) => (
            <Row
              key={one.id}
              main={one.name}
              sub={
                `${of(one.customer)}${words.states[one.state]}` +
                (one.checkedAt === null ? '' : ` · ${words.checked(timeOf(one.checkedAt))}`)
              }
              why={`${words.found(names(one.found))} · ${words.expected(names(one.expected))}`}
              search={one.name}
            />
          ))}
        </Rows>
      </div>
    </>
  )
}
