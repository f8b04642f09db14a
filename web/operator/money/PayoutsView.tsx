import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Landmark } from 'lucide-react'
import { useState } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { LoadMore } from '../../ui/LoadMore.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Empty, LoadError, SkeletonRows } from '../../ui/State.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { dayOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { DeskLink } from '../path.tsx'
import { holdingsQuery, payoutsQuery } from './queries.ts'

const rowClass =
  'flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-border px-5 py-3 first:border-0'

/** The gateways' pay-outs, and by the ledger what they still hold and the fees that they kept. */
export function PayoutsView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.money.payouts
  const { data: held } = useQuery(holdingsQuery)
  const [wanted, setWanted] = useState<WantedAct>()
  const gateways = (isAsked: boolean): string[] => [
    ...new Set(held?.gateways.flatMap(({ name, asked }) => (asked === isAsked ? [name] : []))),
  ]
  const asked = gateways(true)
  // The other gateways' pay-outs are imported from files.
  const told = gateways(false)
  const may = mayDo(session.role, 'money')
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        {may && asked.length > 0 ? (
          <Button
            variant="outline"
            onClick={() =>
              setWanted({
                act: 'payout.read',
                about: words.title,
                fixed: {},
                options: { gateway: asked },
              })
            }
          >
            {t.acts['payout.read']}
          </Button>
        ) : null}
        {may && told.length > 0 ? (
          <Button
            onClick={() =>
              setWanted({
                act: 'payout.import',
                about: words.title,
                fixed: {},
                options: { gateway: told },
              })
            }
          >
            {t.acts['payout.import']}
          </Button>
        ) : null}
      </PageHead>
      <div className="grid gap-5">
        <Held />
        <List />
      </div>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

function Held() {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.money.payouts
  const { data } = useQuery(holdingsQuery)
  if (!data || data.gateways.length + data.banks.length === 0) return null
  return (
    <Card title={words.held} padded={false}>
      <ul>
        {data.gateways.map(({ name, gateway, currency, waiting, fees }) => (
          <li key={`${name} ${currency}`} className={rowClass}>
            <span className="min-w-0 flex-1 basis-40 text-sm font-medium">
              {`${gateway} · ${currency}`}
            </span>
            <span className="flex gap-6">
              <Figure name={words.waiting} value={formatMoney(waiting, currency, language)} />
              <Figure name={words.fees} value={formatMoney(fees, currency, language)} />
            </span>
          </li>
        ))}
        {data.banks.map(({ currency, amount }) => (
          <li key={currency} className={rowClass}>
            <span className="min-w-0 flex-1 basis-40 text-sm font-medium">
              {words.bank(currency)}
            </span>
            <span className="num text-sm">{formatMoney(amount, currency, language)}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
function Figure({ name, value }: { name: string; value: string }) {
  return (
    <span className="text-right">
      <span className="block text-xs text-ink-3">{name}</span>
      <span className="num block text-sm whitespace-nowrap">{value}</span>
    </span>
  )
}

function List() {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.money.payouts
  const list = useInfiniteQuery(payoutsQuery)
  const { data, error, refetch } = list
  const rows = data?.pages.flatMap(({ result }) => result)
  return (
    <Card title={words.list} padded={false}>
      {error && !data ? (
        <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
      ) : null}
      {(data ?? error) ? null : <SkeletonRows className="p-5" />}
      {rows?.length === 0 ? <Empty text={words.empty} icon={Landmark} /> : null}
      <ul>
        {rows?.map((one) => (
          <li key={one.id} className={rowClass}>
            <span className="min-w-0 flex-1 basis-60">
              <DeskLink
                to={`/payouts/${one.id}`}
                className="block text-sm font-medium [overflow-wrap:anywhere] hover:underline"
              >
                {`${one.gateway} · ${one.reference}`}
              </DeskLink>
              <span className="num block text-xs text-ink-3">
                {`${words.arrived(dayOf(one.arrivesAt))} · ${one.file ?? words.byCall}`}
              </span>
            </span>
            <span className="text-right">
              <span className="num block text-sm font-medium whitespace-nowrap">
                {formatMoney(one.amount, one.currency, language)}
              </span>
              <span className="num block text-xs text-ink-3">
                {words.feesOf(formatMoney(one.fees, one.currency, language))}
              </span>
            </span>
            {one.differences > 0 ? (
              <Badge tone="warning">{words.differences(one.differences)}</Badge>
            ) : null}
            <Badge tone={one.status === 'failed' ? 'danger' : 'neutral'}>
              {words.statuses[one.status]}
            </Badge>
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
  )
}
