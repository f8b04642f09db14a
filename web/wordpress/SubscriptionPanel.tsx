import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState, type ReactNode } from 'react'
import {
  cancelSubscription,
  resumeSubscription,
  type Subscription,
} from '../../contract/billing.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, Attempt, messageOf } from '../api.ts'
import { formatDay, formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { HostedLink } from '../invoices/InvoiceParts.tsx'
import { may } from '../may.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { RadioCard } from '../ui/RadioCard.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { DeleteConfirm, useTypedName } from './DeleteConfirm.tsx'
import { subscriptionQuery } from './site-queries.ts'

const tones = {
  pending: 'info',
  active: 'success',
  past_due: 'warning',
  suspended: 'danger',
  ended: 'neutral',
} as const

type Named = Pick<Server, 'id' | 'name' | 'held'>

/** The subscription of a server: when it renews, its price, and its cancellation. */
export function SubscriptionPanel({ id, server }: { id: string; server: Named }) {
  const t = useTexts('site', 'parts')
  const heading = useId()
  const { data, isPending, isError, error, refetch } = useQuery(subscriptionQuery(id))
  return (
    <section aria-labelledby={heading} className="mt-7 border-t border-border pt-6">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <h3 id={heading} className="font-semibold">
          {t.subscription.title}
        </h3>
        {data ? (
          <Badge tone={tones[data.status]} dot>
            {t.subscription.statuses[data.status]}
          </Badge>
        ) : null}
      </div>
      {isPending ? <Skeleton className="mt-4 h-16" /> : null}
      {isError && !data ? <Failed error={error} onRetry={() => void refetch()} /> : null}
      {data ? <StatusSection subscription={data} server={server} /> : null}
    </section>
  )
}

/** A member without access to money is told so, instead of being offered a retry. */
function Failed({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const t = useTexts()
  const text = messageOf(error)
  return error instanceof ApiError && error.status === 403 ? (
    <Note tone="info" className="mt-4">
      {text}
    </Note>
  ) : (
    <LoadError text={text} retryLabel={t.common.retry} onRetry={onRetry} />
  )
}

interface OfServer {
  subscription: Subscription
  server: Named
}

function StatusSection({ subscription, server }: OfServer) {
  const t = useTexts('site', 'parts')
  const { money } = useFormat()
  const { renewsAt, unpaid } = subscription
  const hasEnded = subscription.status === 'ended'
  const cancelAtPeriodEnd = subscription.cancelAtPeriodEnd && !hasEnded
  const { price, renewalPrice, currency, priceRise } = subscription
  let term = renewsAt === null ? t.subscription.paidUntil : t.subscription.renews
  if (cancelAtPeriodEnd) term = t.subscription.ends
  // Undefined in an answer of the release before.
  const isHeld = Boolean(server.held)
  return (
    <>
      {unpaid ? <Unpaid subscription={subscription} unpaid={unpaid} isHeld={isHeld} /> : null}
      {cancelAtPeriodEnd ? (
        <Note tone="warning" className="mt-4 flex flex-wrap items-center justify-between gap-3">
          {t.subscription.willEnd(formatDay(subscription.periodEnd))}
        </Note>
      ) : null}
      {subscription.planned ? (
        <Note tone="info" className="mt-4">
          {t.subscription.planned}
        </Note>
      ) : null}
      {priceRise ? (
        <Note tone="info" className="mt-4">
          {t.subscription.priceRise(money(priceRise.price, currency), formatDay(priceRise.actsAt))}
        </Note>
      ) : null}
      <dl className="mt-4 grid grid-cols-2 gap-x-6 gap-y-5 text-sm sm:gap-x-10 lg:grid-cols-3">
        {/* A subscription that was cancelled at once ended before the end of its period. */}
        {hasEnded ? null : (
          <Fact term={term}>
            <time dateTime={subscription.periodEnd}>{formatTime(subscription.periodEnd)}</time>
          </Fact>
        )}
        <Fact term={t.subscription.price}>{money(price, currency)}</Fact>
        {renewsAt !== null && renewalPrice !== price ? (
          <Fact term={t.subscription.renewalPrice}>{money(renewalPrice, currency)}</Fact>
        ) : null}
      </dl>
      {hasEnded || !may('orders') ? null : (
        <div className="mt-5 flex flex-wrap gap-2">
          {cancelAtPeriodEnd ? <Resume id={subscription.id} /> : null}
          <Cancel subscription={subscription} server={server} />
        </div>
      )}
    </>
  )
}

function Unpaid({
  subscription,
  unpaid,
  isHeld,
}: {
  subscription: Subscription
  unpaid: NonNullable<Subscription['unpaid']>
  isHeld: boolean
}) {
  const t = useTexts('site', 'parts')
  const { money } = useFormat()
  return (
    <Note
      tone={subscription.status === 'suspended' ? 'danger' : 'warning'}
      className="mt-4 flex flex-wrap items-center justify-between gap-3"
    >
      <span>
        <b className="font-semibold">
          {t.subscription.overdue(unpaid.number, money(unpaid.amount_due, subscription.currency))}
        </b>{' '}
        {subscription.status === 'past_due' && !isHeld
          ? `${t.subscription.suspendsOn(formatDay(unpaid.suspendsAt))} `
          : null}
        {t.subscription.deletesOn(formatDay(unpaid.deletesAt))} {t.subscription.backByItself}{' '}
        {isHeld ? t.subscription.staysOff : null}
      </span>
      {may('money:write') ? (
        <HostedLink
          url={unpaid.hosted_invoice_url}
          className="font-semibold underline underline-offset-4"
        >
          {t.subscription.pay}
        </HostedLink>
      ) : null}
    </Note>
  )
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-ink-3">{term}</dt>
      <dd className="num mt-1 font-medium">{children}</dd>
    </div>
  )
}

/** Refetches everything that a change of the subscription affects. */
function useChanged(id: string) {
  const queryClient = useQueryClient()
  return (now: Subscription) => {
    queryClient.setQueryData(subscriptionQuery(id).queryKey, now)
    for (const subject of ['servers', 'runway', 'me', 'invoices', 'transactions'])
      void queryClient.invalidateQueries({ queryKey: [subject] })
  }
}

function Resume({ id }: { id: string }) {
  const t = useTexts('site', 'parts')
  const changed = useChanged(id)
  const [attempt] = useState(() => new Attempt())
  const resume = useMutation({
    mutationFn: () => attempt.run(resumeSubscription, { params: { id } }),
    onSuccess: (now) => {
      changed(now)
      toast.success(t.toast.success, t.subscription.resumed)
    },
    onError: (error) => toast.error(t.toast.error, messageOf(error)),
  })
  return (
    <Button busy={resume.isPending} onClick={() => resume.mutate()}>
      {t.subscription.resume}
    </Button>
  )
}

type When = 'period_end' | 'now'

function Cancel({ subscription, server }: OfServer) {
  const t = useTexts('site', 'parts')
  const { money } = useFormat()
  const changed = useChanged(subscription.id)
  const [attempt] = useState(() => new Attempt())
  const [open, setOpen] = useState(false)
  // Only a paid subscription has a period whose end can be waited for.
  const mayWait = subscription.status === 'active' && !subscription.cancelAtPeriodEnd
  const [chosen, setChosen] = useState<When>('period_end')
  const when = mayWait ? chosen : 'now'
  const isNow = when === 'now'
  const confirmed = useTypedName(server.name)
  const form = `cancel-${subscription.id}`
  const close = () => {
    confirmed.clear()
    setOpen(false)
  }
  const cancel = useMutation({
    mutationFn: () =>
      attempt.run(cancelSubscription, { params: { id: subscription.id }, body: { when } }),
    onSuccess: (now) => {
      changed(now)
      close()
      toast.success(
        t.toast.success,
        isNow
          ? t.subscription.gone(server.name, subscription.unused > 0)
          : t.subscription.cancelled(formatDay(now.periodEnd)),
      )
    },
    onError: (error) => toast.error(t.toast.error, messageOf(error)),
  })
  return (
    <>
      <Button variant="outline" onClick={() => setOpen(true)}>
        {t.subscription.cancel}
      </Button>
      <Dialog
        open={open}
        onClose={close}
        busy={cancel.isPending}
        title={t.subscription.cancelTitle}
        description={t.subscription.cancelText(server.name)}
        closeLabel={t.common.close}
        footer={
          <>
            <Button variant="outline" onClick={close}>
              {t.subscription.keep}
            </Button>
            {isNow ? (
              <Button
                type="submit"
                form={form}
                variant="danger"
                busy={cancel.isPending}
                disabled={!confirmed.isRight}
              >
                {t.subscription.confirmNow}
              </Button>
            ) : (
              <Button busy={cancel.isPending} onClick={() => cancel.mutate()}>
                {t.subscription.confirmEnd}
              </Button>
            )}
          </>
        }
      >
        <div
          role="radiogroup"
          aria-label={t.subscription.cancelTitle}
          className="grid gap-3 text-sm"
        >
          {mayWait ? (
            <Choice
              value="period_end"
              when={when}
              onChange={setChosen}
              title={t.subscription.atEnd(formatDay(subscription.periodEnd))}
              hint={t.subscription.atEndHint}
            />
          ) : null}
          <Choice
            value="now"
            when={when}
            onChange={setChosen}
            title={t.subscription.now}
            hint={
              subscription.unused > 0
                ? t.subscription.nowHint(money(subscription.unused, subscription.currency))
                : t.subscription.nowNothing
            }
          />
        </div>
        {isNow ? (
          <div className="mt-4">
            <DeleteConfirm
              open={open}
              server={server}
              form={form}
              confirmed={confirmed}
              onConfirm={() => cancel.mutate()}
            />
          </div>
        ) : null}
      </Dialog>
    </>
  )
}

interface ChoiceProps {
  value: When
  when: When
  onChange: (when: When) => void
  title: string
  hint: string
}

function Choice({ value, when, onChange, title, hint }: ChoiceProps) {
  return (
    <RadioCard
      name="when"
      value={value}
      checked={when === value}
      onChange={() => onChange(value)}
      className="p-3.5 pr-10"
    >
      <span>
        <span className="block font-medium">{title}</span>
        <span className="num mt-0.5 block text-ink-2">{hint}</span>
      </span>
    </RadioCard>
  )
}
