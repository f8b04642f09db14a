import { useQuery } from '@tanstack/react-query'
import { BackLink } from '../BackLink.tsx'
import { formatMoney } from '../../../contract/money.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { LoadError, Note, SkeletonRows } from '../../ui/State.tsx'
import { dayOf, timeOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { Facts } from './Facts.tsx'
import { payoutQuery } from './queries.ts'

/** One pay-out with the lines of its report; lines that disagree come first. */
export function PayoutView({ id }: { id: string }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.money.payouts
  const { data: one, error, refetch } = useQuery(payoutQuery(id))
  if (!one)
    return error ? (
      <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
    ) : (
      <SkeletonRows />
    )
  const money = (amount: number) => formatMoney(amount, one.currency, language)
  return (
    <>
      <BackLink to="/payouts" text={words.back} />
      <PageHead title={`${one.gateway} · ${money(one.amount)}`} />
      {one.lineSum !== null && one.lineSum !== one.amount ? (
        <Note tone="warning" className="mb-5">
          {words.sumDiffers}
        </Note>
      ) : null}
      <div className="grid gap-5">
        <Card
          title={words.facts}
          action={
            <Badge tone={one.status === 'failed' ? 'danger' : 'neutral'}>
              {words.statuses[one.status]}
            </Badge>
          }
        >
          <Facts
            rows={[
              [words.amount, money(one.amount)],
              [words.feesKept, money(one.fees)],
              [words.lineSum, one.lineSum === null ? '–' : money(one.lineSum)],
              [words.reference, one.reference],
              [words.arrivesAt, dayOf(one.arrivesAt)],
              [words.postedAt, one.postedAt === null ? words.notPosted : timeOf(one.postedAt)],
              [words.file, one.file ?? words.byCall],
            ]}
          />
        </Card>
        <Card title={words.lines} padded={false}>
          <ul>
            {one.lines.map((line) => (
              <li
                key={line.id}
                className={
                  'flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-border px-5 py-2.5'
                }
              >
                <span className="min-w-0 flex-1 basis-60">
                  <span className="block text-sm font-medium [overflow-wrap:anywhere]">
                    {`${words.kinds[line.kind]} · ${line.code ?? line.movement ?? line.reference}`}
                  </span>
                  {line.fault === null ? null : (
                    <span className="block text-xs text-warning">
                      {line.fault === 'unknown'
                        ? words.unknown
                        : words.expected(money(line.expected ?? 0))}
                      {line.closed ? ` ${words.closed}.` : ''}
                    </span>
                  )}
                </span>
                <span className="text-right">
                  <span className="num block text-sm whitespace-nowrap">{money(line.amount)}</span>
                  <span className="num block text-xs text-ink-3">
                    {words.feeOf(money(line.fee))}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </Card>
      </div>
    </>
  )
}
