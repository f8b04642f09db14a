import { useInfiniteQuery } from '@tanstack/react-query'
import { TicketPercent } from 'lucide-react'
import { useState } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { LoadMore } from '../../ui/LoadMore.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Empty, LoadError, Note, SkeletonRows } from '../../ui/State.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { useDeskLanguage, useDeskTexts } from '../language.ts'
import { lastDay } from './last-day.ts'
import { vouchersQuery } from './queries.ts'

/** Codes that put money into wallets. A code is worth money, so few roles may see the list. */
export function VouchersView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.money.vouchers
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'money')
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        {may ? (
          <Button onClick={() => setWanted({ act: 'voucher.make', fixed: {} })}>
            {t.acts['voucher.make']}
          </Button>
        ) : null}
      </PageHead>
      {may ? <List onAct={setWanted} /> : <Note tone="info">{words.notAllowed}</Note>}
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

function List({ onAct }: { onAct: (wanted: WantedAct) => void }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.money.vouchers
  const list = useInfiniteQuery(vouchersQuery)
  const { data, error, refetch } = list
  const rows = data?.pages.flatMap(({ result }) => result)
  return (
    <Card padded={false}>
      {error && !data ? (
        <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
      ) : null}
      {(data ?? error) ? null : <SkeletonRows className="p-5" />}
      {rows?.length === 0 ? <Empty text={words.empty} icon={TicketPercent} /> : null}
      <ul>
        {rows?.map((one) => (
          <li
            key={one.id}
            className={
              'flex flex-wrap items-center gap-x-4 gap-y-2 border-t border-border px-5 py-3 ' +
              'first:border-0'
            }
          >
            <span className="min-w-0 flex-1 basis-60">
              <span className="block font-mono text-sm break-all">{one.code}</span>
              <span className="num block text-xs text-ink-3">
                {words.used(one.uses, one.maxUses)}
                {one.expiresAt === null ? '' : ` · ${words.until(lastDay(one.expiresAt))}`}
              </span>
            </span>
            <span className="num text-sm font-medium whitespace-nowrap">
              {formatMoney(one.amount, one.currency, language)}
            </span>
            <Badge tone={one.good ? 'success' : 'neutral'} dot>
              {one.good ? words.good : words.ended}
            </Badge>
            {one.good ? (
              <Button
                size="sm"
                variant="outline"
                onClick={() =>
                  onAct({ act: 'voucher.stop', about: one.code, fixed: { voucher: one.code } })
                }
              >
                {t.acts['voucher.stop']}
              </Button>
            ) : null}
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
