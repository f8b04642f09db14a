import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import type { ActName } from '../../../contract/operator-acts.ts'
import type { Question } from '../../../contract/operator-money.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Empty, LoadError, SkeletonRows } from '../../ui/State.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { dayOf, timeOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { reconciliationQuery } from './queries.ts'

type Age = Question['age']
const ages = ['fresh', 'week', 'month', 'older'] as const satisfies readonly Age[]
const rowClass =
  'flex flex-wrap items-center gap-x-4 gap-y-2 border-t border-border px-5 py-3 first:border-0'

/** The other side of the comparison, where it is not the gateway. */
const toldBy: Partial<Record<Question['kind'], 'ledger' | 'bank'>> = {
  ledger_differs: 'ledger',
  no_payment: 'ledger',
  payout: 'bank',
  payout_not_posted: 'bank',
}

/** The acts that resolve an item, with the fields that are already known. */
function actsOn({ id, kind }: Question): readonly [ActName, WantedAct['fixed']][] {
  const own = id.slice(id.indexOf(':') + 1)
  if (kind === 'suspense')
    return [
      ['money.assign', { suspense: Number(own) }],
      ['money.return', { suspense: Number(own) }],
      ['payout.match', { suspense: Number(own) }],
    ]
  if (kind === 'refund') return [['refund.decide', { refund: own }]]
  const close: [ActName, WantedAct['fixed']] = ['reconcile.close', { item: id }]
  return id.startsWith('found:') ? [['reconcile.ask', { item: id }], close] : [close]
}

/** Differences by age, each with the acts that resolve it. */
export function ReconciliationView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.money.reconciliation
  const { data, error, refetch } = useQuery(reconciliationQuery)
  const [age, setAge] = useState<Age | 'all'>('all')
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'money')
  const shown = data?.items.filter((item) => age === 'all' || item.age === age)
  const countOf = (of: Age) => data?.items.filter((item) => item.age === of).length ?? 0
  const names = data?.gateways ?? []
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        {may && names.length > 0 ? (
          <Button
            variant="outline"
            onClick={() =>
              setWanted({
                act: 'reconcile.compare',
                about: words.title,
                fixed: {},
                options: { gateway: names },
              })
            }
          >
            {t.acts['reconcile.compare']}
          </Button>
        ) : null}
      </PageHead>
      <div className="grid gap-5">
        <div className="max-w-full overflow-x-auto whitespace-nowrap">
          <Segmented
            label={words.age}
            value={age}
            onChange={setAge}
            options={[
              { value: 'all', label: words.all },
              ...ages.map((each) => ({
                value: each,
                label: `${words.ages[each]} · ${countOf(each)}`,
              })),
            ]}
          />
        </div>
        <Card padded={false}>
          {error && !data ? (
            <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
          ) : null}
          {(data ?? error) ? null : <SkeletonRows className="p-5" />}
          {shown?.length === 0 ? <Empty text={words.empty} icon={CircleCheck} /> : null}
          <ul>
            {shown?.map((item) => (
              <Item key={item.id} of={item} {...(may && { onAct: setWanted })} />
            ))}
          </ul>
        </Card>
        <Card title={words.compared} padded={false}>
          {data?.comparisons.length === 0 ? (
            <p className="px-5 pb-4 text-sm text-ink-3">{words.never}</p>
          ) : null}
          <ul>
            {data?.comparisons.map((run) => (
              <li key={run.name} className={rowClass}>
                <span className="min-w-0 flex-1 basis-40">
                  <span className="block text-sm font-medium">{run.gateway}</span>
                  <span className="num block text-xs text-ink-3">
                    {`${timeOf(run.at)} · ${words.run(run.payments, run.queried)}`}
                  </span>
                </span>
                {run.reached ? null : <Badge tone="danger">{words.notReached}</Badge>}
              </li>
            ))}
          </ul>
        </Card>
      </div>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

function Item({ of, onAct }: { of: Question; onAct?: (wanted: WantedAct) => void }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.money.reconciliation
  const money = (amount: number) => formatMoney(amount, of.currency, language)
  const amounts = [
    ...(of.here === null ? [] : [words.here(money(of.here))]),
    ...(of.there === null ? [] : [words.there[toldBy[of.kind] ?? 'gateway'](money(of.there))]),
  ]
  return (
    <li className={rowClass}>
      <span className="min-w-0 flex-1 basis-72">
        <span className="block text-sm font-medium">{words.kinds[of.kind]}</span>
        <span className="num block text-xs [overflow-wrap:anywhere] text-ink-3">
          {[of.gateway, of.about, words.since(dayOf(of.at))].join(' · ')}
          {of.file === null ? '' : ` · ${words.file(of.file)}`}
        </span>
        <span className="num block text-sm text-ink-2">{amounts.join(' · ')}</span>
      </span>
      <Badge tone={of.age === 'month' || of.age === 'older' ? 'danger' : 'neutral'}>
        {words.ages[of.age]}
      </Badge>
      {onAct
        ? actsOn(of).map(([act, fixed]) => (
            <Button
              key={act}
              size="sm"
              variant="outline"
              onClick={() => onAct({ act, about: of.about, fixed })}
            >
              {t.acts[act]}
            </Button>
          ))
        : null}
    </li>
  )
}
