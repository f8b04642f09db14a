import { useQuery } from '@tanstack/react-query'
import { Coins } from 'lucide-react'
import { useState } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Empty, LoadError, SkeletonRows } from '../../ui/State.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { timeOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { DeskLink } from '../path.tsx'
import { suspenseQuery } from '../queries.ts'

/** Money in suspense, which matches no payment and is to be assigned. */
export function SuspenseView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const { data, error, refetch } = useQuery(suspenseQuery)
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'money')
  return (
    <>
      <PageHead title={t.suspense.title} sub={t.suspense.sub} />
      <Card padded={false}>
        {error && !data ? (
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        ) : null}
        {(data ?? error) ? null : <SkeletonRows className="p-5" />}
        {data?.length === 0 ? <Empty text={t.suspense.empty} icon={Coins} /> : null}
        <ul>
          {data?.map(({ id, at, gateway, amount, currency, reason, notice, ...of }) => (
            <li
              key={id}
              className={
                'flex flex-wrap items-center gap-3 border-t border-border px-5 py-3 first:border-0'
              }
            >
              <div className="min-w-0 flex-1 basis-60">
                <p className="font-mono text-sm break-all">{of.reference}</p>
                <p className="num text-xs text-ink-3">{`${gateway} · ${timeOf(at)}`}</p>
                <p className="text-xs">{t.suspense.reasons[reason] ?? reason}</p>
                {of.code === null || of.code === of.payment ? null : (
                  <p className="text-xs text-ink-3">{`${t.suspense.code}: ${of.code}`}</p>
                )}
                {of.payment === null ? null : (
                  <p className="text-xs text-ink-3">{`${t.suspense.payment}: ${of.payment}`}</p>
                )}
              </div>
              {may && notice !== null ? (
                <DeskLink
                  to={`/webhooks/${notice}`}
                  className="text-sm text-primary-ink hover:underline"
                >
                  {t.suspense.notice}
                </DeskLink>
              ) : null}
              <span className="num font-medium whitespace-nowrap">
                {formatMoney(amount, currency, language)}
              </span>
              {may
                ? (['money.assign', 'money.return'] as const).map((act) => (
                    <Button
                      key={act}
                      variant={act === 'money.assign' ? 'outline' : 'ghost'}
                      onClick={() =>
                        setWanted({
                          act,
                          about: formatMoney(amount, currency, language),
                          fixed: { suspense: id },
                        })
                      }
                    >
                      {act === 'money.assign' ? t.suspense.assign : t.acts[act]}
                    </Button>
                  ))
                : null}
            </li>
          ))}
        </ul>
      </Card>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}
