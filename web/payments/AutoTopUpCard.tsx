import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { daysAhead, stopAutoTopUp, type AutoTopUp } from '../../contract/auto-top-up.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { formatDay, formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { AutoTopUpDialog } from './AutoTopUpDialog.tsx'
import { autoTopUpQuery, useAutoTopUpTexts } from './auto-top-up-queries.ts'
import { brandName } from './CardBrand.tsx'

const tones: Readonly<Record<NonNullable<AutoTopUp['last']>['state'], Tone>> = {
  under_way: 'info',
  succeeded: 'success',
  declined: 'danger',
  needs_owner: 'warning',
  not_charged: 'neutral',
}

/** Whether a linked card tops the wallet up automatically, and how its last payment went. */
export default function AutoTopUpCard() {
  const t = useTexts()
  const words = useAutoTopUpTexts()
  const { data, error, refetch } = useQuery(autoTopUpQuery)
  const [open, setOpen] = useState<'form' | 'off'>()
  const isOn = data?.rule?.off === null
  const close = () => setOpen(undefined)
  return (
    <Card
      title={words.title}
      action={
        data ? (
          <Badge tone={isOn ? 'success' : 'neutral'} dot>
            {isOn ? words.on : words.off}
          </Badge>
        ) : null
      }
    >
      {!data && error ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {!data && !error ? <Skeleton className="h-24 rounded-lg" /> : null}
      {data ? (
        <>
          {data.rule ? (
            <State of={data} />
          ) : (
            <p className="text-sm text-ink-2">{words.intro(daysAhead)}</p>
          )}
          <div className="mt-4 flex flex-wrap gap-2">
            <Button variant={isOn ? 'outline' : 'primary'} onClick={() => setOpen('form')}>
              <ButtonText of={data} />
            </Button>
            {isOn ? (
              <Button variant="ghost" onClick={() => setOpen('off')}>
                {words.switchOff}
              </Button>
            ) : null}
          </div>
          {open === 'form' ? <AutoTopUpDialog of={data} onClose={close} /> : null}
          {open === 'off' ? <OffDialog onClose={close} /> : null}
        </>
      ) : null}
    </Card>
  )
}

function ButtonText({ of: { rule } }: { of: AutoTopUp }) {
  const words = useAutoTopUpTexts()
  if (!rule) return words.setUp
  return rule.off ? words.switchOn : words.change
}

/** The rule, and its last result. */
function State({ of }: { of: AutoTopUp }) {
  const words = useAutoTopUpTexts()
  const { money } = useFormat()
  const { rule, last, currency, spent } = of
  if (!rule) return null
  const reasons: Readonly<Record<string, string>> = words.reasons
  const failed = last?.state === 'declined' || last?.state === 'needs_owner'
  const rows: [string, ReactNode][] = [
    [words.below, money(rule.below, currency)],
    [words.amount, money(rule.amount, currency)],
    [words.card, words.ends(brandName(rule.card.brand), rule.card.last4)],
    [words.spent, words.ofLimit(money(spent, currency), money(rule.monthLimit, currency))],
    [
      words.last,
      last ? (
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          {money(last.amount, currency)}
          <span className="text-ink-3">{formatTime(last.at).slice(0, 16)}</span>
          <Badge tone={tones[last.state]}>{words.states[last.state]}</Badge>
        </span>
      ) : (
        words.never
      ),
    ],
  ]
  return (
    <>
      {rule.off ? (
        <Note tone="warning" className="mb-4">
          {words.offWhy[rule.off.reason]}
        </Note>
      ) : null}
      {failed && !rule.off ? (
        <Note tone="warning" className="mb-4">
          {reasons[last.reason ?? 'other'] ?? words.reasons.other}{' '}
          {rule.nextTryAt ? words.nextTry(formatTime(rule.nextTryAt).slice(0, 16)) : null}
        </Note>
      ) : null}
      <dl className="grid gap-x-6 gap-y-3 text-sm sm:grid-cols-2">
        {rows.map(([name, value]) => (
          <div key={name} className="min-w-0">
            <dt className="text-xs text-ink-3">{name}</dt>
            <dd className="num mt-0.5 font-medium">{value}</dd>
          </div>
        ))}
      </dl>
      {rule.off ? null : (
        <p className="num mt-3 text-xs text-ink-3">{words.agreed(formatDay(rule.consentedAt))}</p>
      )}
    </>
  )
}

function OffDialog({ onClose }: { onClose: () => void }) {
  const t = useTexts()
  const words = useAutoTopUpTexts()
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const off = async () => {
    setBusy(true)
    try {
      await call(stopAutoTopUp, {})
      await queryClient.invalidateQueries({ queryKey: autoTopUpQuery.queryKey })
      toast.success(t.toast.success, words.switchedOff)
      onClose()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      toast.error(t.toast.error, messageOf(error))
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      busy={busy}
      title={words.confirmOff}
      description={words.confirmOffText}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="ghost" disabled={busy} onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button variant="danger" busy={busy} onClick={() => void off()}>
            {words.switchOff}
          </Button>
        </>
      }
    />
  )
}
