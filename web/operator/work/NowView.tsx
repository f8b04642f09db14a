import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { LoadError, Note, SkeletonRows } from '../../ui/State.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { timeOf, useDeskTexts } from '../language.ts'
import { DeskLink } from '../path.tsx'
import { workQuery } from '../queries.ts'

/** Work that is stuck, with the reasons. */
export function NowView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const { data, error, refetch } = useQuery(workQuery)
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'work')
  const isWell = data && data.down.length + data.stuck.length + data.givenUp.length === 0
  return (
    <>
      <PageHead title={t.work.title} sub={t.work.sub} />
      {error && !data ? (
        <Card>
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        </Card>
      ) : null}
      {(data ?? error) ? null : <SkeletonRows />}
      {isWell ? (
        <Note tone="success" className="mb-5 flex items-center gap-2">
          <CircleCheck aria-hidden className="size-4" />
          {t.work.allWell}
        </Note>
      ) : null}
      <div className="grid gap-5">
        <Rows title={t.work.down}>
          {data?.down.map(({ id, name, email, since, why }) => (
            <Row
              key={id}
              main={name}
              sub={`${email} · ${t.work.since(timeOf(since))}`}
              why={why}
              search={id}
            />
          ))}
        </Rows>
        <Rows title={t.work.stuck}>
          {data?.stuck.map(({ id, name, email, work, since, attempts, why }) => (
            <Row
              key={`${id} ${work}`}
              main={`${name} · ${t.work.kinds[work] ?? work}`}
              sub={
                `${email} · ${since === null ? t.work.noJob : t.work.since(timeOf(since))} · ` +
                t.work.attempts(attempts)
              }
              why={why ?? ''}
              search={id}
            />
          ))}
        </Rows>
        <Rows title={t.work.givenUp}>
          {data?.givenUp.map(({ id, queue, at, attempts, why }) => (
            <Row
              key={id}
              main={queue}
              sub={`${timeOf(at)} · ${t.work.attempts(attempts)}`}
              why={why}
              action={
                may ? (
                  <Button
                    variant="outline"
                    size="sm"
                    onClick={() =>
                      setWanted({ act: 'work.retry_job', about: queue, fixed: { job: id } })
                    }
                  >
                    {t.acts['work.retry_job']}
                  </Button>
                ) : null
              }
            />
          ))}
        </Rows>
        <Rows title={t.work.queues}>
          {data?.queues.map(({ queue, ready, later, running, givenUp }) => (
            <Row
              key={queue}
              main={queue}
              sub={t.work.counts(ready, later, running)}
              action={givenUp > 0 ? <Badge tone="danger">{t.work.gaveUp(givenUp)}</Badge> : null}
            />
          ))}
        </Rows>
      </div>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

/** A card of rows; nothing where there are none. */
export function Rows({
  title,
  children,
}: {
  title: string
  children: readonly ReactNode[] | undefined
}) {
  if (children === undefined || children.length === 0) return null
  return (
    <Card title={title} padded={false}>
      <ul>{children}</ul>
    </Card>
  )
}

/** `search`: the id that finds the server, and with it the customer. */
export function Row({
  main,
  sub,
  why = '',
  search,
  action,
}: {
  main: string
  sub: string
  why?: string
  search?: string
  action?: ReactNode
}) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-border px-5 py-2.5">
      <span className="min-w-0 flex-1 basis-60">
        <span className="block text-sm font-medium [overflow-wrap:anywhere]">
          {search === undefined ? (
            main
          ) : (
            <DeskLink to={`?${new URLSearchParams({ q: search })}`} className="hover:underline">
              {main}
            </DeskLink>
          )}
        </span>
        <span className="num block text-xs text-ink-3">{sub}</span>
      </span>
      {why === '' ? null : (
        <span className="min-w-0 flex-1 basis-60 text-sm [overflow-wrap:anywhere] text-ink-2">
          {why}
        </span>
      )}
      {action}
    </li>
  )
}
