import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { StaffSession } from '../../../contract/operator.ts'
import type { NodeLoss } from '../../../contract/operator-nodes.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { LoadError, Note, SkeletonRows } from '../../ui/State.tsx'
import type { OperatorTexts } from '../../i18n/en-operator.ts'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { timeOf, useDeskLanguage, useDeskTexts, type DeskLanguage } from '../language.ts'
import { nodeLossQuery } from '../queries.ts'
import { Row } from './NowView.tsx'

/** A node that is away, or that has come back after its servers were started elsewhere. */
export function LostNode({ node, session }: { node: string; session: StaffSession }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.work.capacity.lost
  const { data, error, refetch } = useQuery(nodeLossQuery(node))
  const [wanted, setWanted] = useState<WantedAct>()
  const mayAct = mayDo(session.role, 'work') && data?.isAway === true
  const ask = (server?: { id: string; name: string }): void =>
    setWanted({
      act: 'node.lost',
      about: server?.name ?? node,
      fixed: { node, ...(server && { server: server.id }) },
    })
  const goes = data?.servers.some(({ to, isUnderWay }) => to !== null && !isUnderWay) ?? false
  return (
    <Card
      title={`${t.work.capacity.node} ${node}`}
      padded={false}
      {...(mayAct &&
        goes && {
          action: (
            <Button variant="danger" size="sm" onClick={() => ask()}>
              {t.acts['node.lost']}
            </Button>
          ),
        })}
    >
      {error && !data ? (
        <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
      ) : null}
      {(data ?? error) ? null : <SkeletonRows />}
      {data?.isAway ? (
        <Note tone={data.isFenced ? 'info' : 'warning'} className="mx-5 mb-4">
          {leaseText(data, words)}
        </Note>
      ) : null}
      {data ? (
        <ul>
          {data.servers.length + data.elsewhere.length === 0 ? (
            <Row main={words.none} sub="" />
          ) : null}
          {data.isAway
            ? data.servers.map((one) => (
                <Row
                  key={one.id}
                  main={one.name}
                  sub={serverText(one, t, language)}
                  search={one.id}
                  action={
                    mayAct && one.to !== null && !one.isUnderWay ? (
                      <Button
                        variant="outline"
                        size="sm"
                        aria-label={`${t.acts['node.lost']}: ${one.name}`}
                        onClick={() => ask(one)}
                      >
                        {t.acts['node.lost']}
                      </Button>
                    ) : null
                  }
                />
              ))
            : null}
          {data.elsewhere.map(({ id, name, to, at, contentAt, keptUntil }) => (
            <Row
              key={`was ${id}`}
              main={name}
              sub={
                `${words.elsewhere(to, timeOf(contentAt ?? at))} · ` +
                (keptUntil === null ? words.keptOnReturn : words.keptUntil(timeOf(keptUntil)))
              }
              search={id}
            />
          ))}
        </ul>
      ) : null}
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </Card>
  )
}

type Words = OperatorTexts['work']['capacity']['lost']

function leaseText({ isFenced, writesUntil }: NodeLoss, words: Words): string {
  if (isFenced) return words.fenced
  return writesUntil === null ? words.noLease : words.leased(timeOf(writesUntil))
}

/** How much is lost: the time since the backup or the mirror's last round. */
function ageOf(contentAt: string, words: Words): string {
  const minutes = Math.max(1, Math.round((Date.now() - Date.parse(contentAt)) / 60_000))
  if (minutes < 120) return words.minutes(minutes)
  const hours = Math.round(minutes / 60)
  return hours < 48 ? words.hours(hours) : words.days(Math.round(hours / 24))
}

function serverText(
  { to, isUnderWay, contentAt, isMirrored, why, failed }: NodeLoss['servers'][number],
  t: OperatorTexts,
  language: DeskLanguage,
): string {
  const words = t.work.capacity.lost
  if (to === null || contentAt === null) {
    const stays = words.stays(why?.[language] ?? '')
    return failed === null ? stays : `${stays} · ${words.failed(failed)}`
  }
  if (isUnderWay) return words.underWay(to)
  const goes = words[isMirrored ? 'goesMirrored' : 'goes'](to, ageOf(contentAt, words))
  return failed === null ? goes : `${goes} · ${words.failed(failed)}`
}
