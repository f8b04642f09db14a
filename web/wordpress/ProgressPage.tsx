import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import {
  Check,
  CircleAlert,
  CircleCheck,
  CircleX,
  FileText,
  Plus,
  X,
  type LucideIcon,
} from 'lucide-react'
import { useEffect, useState } from 'react'
import { InvoiceEvent } from '../../contract/realtime.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { formatElapsed, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { HostedLink } from '../invoices/InvoiceParts.tsx'
import { openInvoicesQuery } from '../invoices/queries.ts'
import { may } from '../may.ts'
import { topUpOf } from '../payments/shortfall.ts'
import { meQuery, useConfig, useMe } from '../queries.ts'
import { onPortalEvent, realtimeConnected } from '../realtime/channel.ts'
import type { LoadInput } from '../load-input.ts'
import { buttonClass } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Empty, LoadError, Skeleton } from '../ui/State.tsx'
import { Stepper } from '../ui/Stepper.tsx'
import { toast } from '../ui/toast.ts'
import { olderDue } from './older-due.ts'
import { stageOf, stepOf, type Stage } from './progress-state.ts'
import { serverQuery } from './queries.ts'
import { UnpaidOrder } from './UnpaidOrder.tsx'

const route = getRouteApi('/app/wordpress-progress/$id')
const silentMs = 10_000
const withoutSocketMs = 3000
const redirectMs = 1000
/** The charge follows the order within moments; after this many seconds the invoice is offered. */
const chargeSeconds = 15

export const load = ({ queryClient, params }: LoadInput) =>
  queryClient.prefetchQuery(serverQuery(params['id'] ?? ''))

/**
 * Reads the state of the order, then listens for events; the page may be left and opened again at
 * any time.
 */
export default function ProgressPage() {
  const t = useTexts('servers', 'site')
  const { id } = route.useParams()
  const { data: server, isPending, error, refetch } = useQuery(serverQuery(id))
  const settled =
    server !== undefined && server.status !== 'pending_payment' && server.status !== 'provisioning'
  useNudges(id, settled, () => void refetch())
  const isOver = server !== undefined && ended.has(server.status)

  return (
    <>
      <title>{`${isOver ? t.progress.orderTitle : t.progress.title} · ${brand}`}</title>
      {isPending ? <Skeleton className="h-80 rounded-xl" /> : null}
      {server ? <Progress server={server} /> : null}
      {error && !server ? (
        <section className="card">
          {error instanceof ApiError && error.status === 404 ? (
            <Empty text={error.message}>
              <Link to="/wordpress" className={buttonClass('outline')}>
                {t.wp.back}
              </Link>
            </Empty>
          ) : (
            <LoadError
              text={messageOf(error)}
              retryLabel={t.common.retry}
              onRetry={() => void refetch()}
            />
          )}
        </section>
      ) : null}
    </>
  )
}

/**
 * Refetches after an event about this server, after ten seconds of silence, and while the socket is
 * down.
 */
function useNudges(id: string, settled: boolean, look: () => void) {
  const queryClient = useQueryClient()
  useEffect(() => {
    if (settled) return
    let lastUpdateAt = Date.now()
    const onUpdate = () => {
      lastUpdateAt = Date.now()
      look()
    }
    const forget = onPortalEvent((event) => {
      const invoice = InvoiceEvent.safeParse(event?.payload)
      // The wallet holds less than this tab knew.
      if (event?.event === 'invoice.payment_failed' && invoice.data?.wp?.id === id)
        void queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
      onUpdate()
    })
    const timer = setInterval(() => {
      if (Date.now() - lastUpdateAt >= (realtimeConnected() ? silentMs : withoutSocketMs))
        onUpdate()
    }, 1000)
    return () => {
      forget()
      clearInterval(timer)
    }
    // `look` only refetches, so the first one does as well as the newest.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [id, settled])
}

function useNow(running: boolean): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!running) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [running])
  return now
}

function Progress({ server }: { server: Server }) {
  const t = useTexts('servers', 'site')
  const user = useMe()
  const navigate = useNavigate()
  const working = server.status === 'pending_payment' || server.status === 'provisioning'
  const now = useNow(working)
  const stage = stageOf(server, user.balance)
  const { data: unpaid } = useQuery({
    ...openInvoicesQuery,
    enabled: stage === 'unpaid' && may('money:read'),
  })
  const older = server.invoice ? olderDue(unpaid ?? [], server.invoice.id) : 0
  const short = Math.max(0, older + (server.invoice?.amount_due ?? 0) - user.balance)
  // An order may have waited for days before its money came: only the present stage is counted.
  const [begun, setBegun] = useState({ stage, at: now })
  if (begun.stage !== stage) setBegun({ stage, at: now })
  const seconds = Math.max(0, (now - begun.at) / 1000)

  useEffect(() => {
    if (stage !== 'running') return
    toast.success(t.toast.success, t.progress.ready)
    const timer = setTimeout(
      () => void navigate({ to: '/wordpress/$id', params: { id: server.id }, replace: true }),
      redirectMs,
    )
    return () => clearTimeout(timer)
    // A change of language must not report the success again.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [stage, server.id])

  return (
    <>
      <div className="mb-6 flex flex-wrap items-center justify-between gap-4">
        <div className="min-w-0">
          <h1 tabIndex={-1} className="text-2xl font-semibold tracking-[-.02em]">
            {ended.has(stage) ? t.progress.orderTitle : t.progress.title}
          </h1>
          <p className="mt-1 text-sm wrap-anywhere text-ink-2">{server.name}</p>
        </div>
        <Stepper steps={t.wp.steps} at={stepOf[stage]} label={t.wp.stepsLabel} />
      </div>
      <section className="card mx-auto max-w-2xl p-6 sm:p-8">
        <Headline stage={stage} server={server} short={short} elapsed={formatElapsed(seconds)} />
        <Tasks stage={stage} />
        {stage === 'unpaid' && server.invoice ? (
          <UnpaidOrder invoice={server.invoice} older={older} />
        ) : null}
        <Actions stage={stage} server={server} short={short} isLong={seconds > chargeSeconds} />
      </section>
    </>
  )
}

interface Mark {
  Icon: LucideIcon
  look: string
}
const marks: Partial<Record<Stage, Mark>> & { other: Mark } = {
  running: { Icon: CircleCheck, look: 'bg-success-soft text-success' },
  failed: { Icon: CircleX, look: 'bg-danger-soft text-danger' },
  other: { Icon: CircleAlert, look: 'bg-warning-soft text-warning' },
}

/** No server is being set up any more. */
const ended: ReadonlySet<string> = new Set<Stage>(['failed', 'suspended', 'deleting'])

interface HeadlineProps {
  stage: Stage
  server: Server
  /** What is missing for the order to go on, minor units. */
  short: number
  elapsed: string
}

function Headline({ stage, server, short, elapsed }: HeadlineProps) {
  const t = useTexts('servers', 'site')
  const user = useMe()
  const { money } = useFormat()
  const working = stage === 'paying' || stage === 'provisioning'
  const heads: Record<Stage, [string, string | undefined]> = {
    paying: [t.progress.working, t.progress.leave],
    provisioning: [t.progress.working, t.progress.leave],
    unpaid: [t.progress.paymentTitle(money(short, user.currency)), t.progress.paymentText],
    roomless: [t.progress.roomlessTitle, t.progress.roomlessText],
    running: [t.progress.readyTitle, t.progress.opening],
    failed: [t.progress.failedTitle, t.progress.failedText],
    suspended: [t.progress.suspendedTitle, server.held ? t.site.heldUntil : t.site.suspended],
    deleting: [t.progress.deletingTitle, undefined],
  }
  const [title, text] = heads[stage]
  const { Icon, look } = marks[stage] ?? marks.other
  return (
    <div className="flex items-start gap-4">
      {working ? (
        <span
          aria-hidden
          className={
            'grid size-11 shrink-0 place-items-center rounded-full bg-primary-soft ' +
            'text-primary-ink'
          }
        >
          <span className="spinner size-5!" />
        </span>
      ) : (
        <span
          aria-hidden
          className={cx('grid size-11 shrink-0 place-items-center rounded-full', look)}
        >
          <Icon className="size-6" strokeWidth={1.75} />
        </span>
      )}
      <div className="min-w-0 flex-1">
        {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
        <div role="status">
          <h2 className="text-lg font-semibold">{title}</h2>
          {text ? <p className="mt-0.5 text-sm text-ink-2">{text}</p> : null}
          {stage === 'failed' && server.reason !== null ? (
            <p className="mt-2 text-sm break-words text-ink-2">
              <span className="font-medium text-ink">{t.progress.reason}:</span> {server.reason}
            </p>
          ) : null}
        </div>
        {working ? (
          <p className="num mt-2 text-xs text-ink-3">
            {t.progress.elapsed} {elapsed}
          </p>
        ) : null}
      </div>
    </div>
  )
}

type TaskState = 'done' | 'now' | 'waiting' | 'stopped'

const taskStates: Record<Stage, [TaskState, TaskState, TaskState]> = {
  paying: ['done', 'now', 'waiting'],
  unpaid: ['done', 'waiting', 'waiting'],
  roomless: ['done', 'waiting', 'waiting'],
  provisioning: ['done', 'done', 'now'],
  running: ['done', 'done', 'done'],
  failed: ['done', 'done', 'stopped'],
  suspended: ['done', 'done', 'done'],
  deleting: ['done', 'done', 'done'],
}

function Tasks({ stage }: { stage: Stage }) {
  const t = useTexts('servers', 'site')
  const names = [t.progress.taskOrder, t.progress.taskPay, t.progress.taskCreate]
  return (
    <ol className="mt-6 grid gap-3 border-t border-border pt-6">
      {taskStates[stage].map((state, index) => (
        <li key={names[index]} className="flex items-center gap-3 text-sm">
          <TaskMark state={state} />
          <span
            className={cx(state === 'waiting' && 'text-ink-3', state === 'now' && 'font-medium')}
          >
            {names[index]}
          </span>
          <span className="ml-auto text-xs text-ink-3">{t.progress[state]}</span>
        </li>
      ))}
    </ol>
  )
}

function TaskMark({ state }: { state: TaskState }) {
  const looks: Record<TaskState, string> = {
    done: 'bg-success-soft text-success',
    now: 'bg-primary-soft text-primary-ink',
    waiting: 'shadow-[inset_0_0_0_1.5px_var(--control)]',
    stopped: 'bg-danger-soft text-danger',
  }
  return (
    <span
      aria-hidden
      className={cx('grid size-6 shrink-0 place-items-center rounded-full', looks[state])}
    >
      {state === 'done' ? <Check className="size-3.5" strokeWidth={3} /> : null}
      {state === 'stopped' ? <X className="size-3.5" strokeWidth={3} /> : null}
      {state === 'now' ? (
        <span className="pulse-dot size-2 rounded-full bg-primary text-primary" />
      ) : null}
    </span>
  )
}

function Actions(of: { stage: Stage; server: Server; short: number; isLong: boolean }) {
  const { stage, server, short, isLong } = of
  const t = useTexts('servers', 'site')
  const user = useMe()
  const { payments } = useConfig()
  const { money } = useFormat()
  const place = 'mt-6 flex flex-wrap gap-2 max-sm:*:flex-1'
  if (stage === 'unpaid') {
    return (
      <div className={place}>
        <Link
          to="/payment"
          search={topUpOf(short, user.currency, payments[user.region_code]?.min ?? 0)}
          className={buttonClass()}
        >
          <Plus aria-hidden className="size-4" />
          {t.progress.topUp(money(short, user.currency))}
        </Link>
        {server.invoice ? (
          <HostedLink url={server.invoice.hosted_invoice_url} className={buttonClass('outline')}>
            <FileText aria-hidden className="size-4" />
            {t.progress.openInvoice}
          </HostedLink>
        ) : null}
      </div>
    )
  }
  const waits = stage === 'roomless' || (stage === 'paying' && isLong)
  if (waits && server.invoice) {
    return (
      <div className={place}>
        <HostedLink url={server.invoice.hosted_invoice_url} className={buttonClass('outline')}>
          <FileText aria-hidden className="size-4" />
          {t.progress.openInvoice}
        </HostedLink>
        <Link to="/wordpress/$id" params={{ id: server.id }} className={buttonClass('outline')}>
          {t.progress.toServer}
        </Link>
      </div>
    )
  }
  if (stage === 'failed') {
    return (
      <div className={place}>
        <Link to="/wordpress/create" className={buttonClass()}>
          {t.progress.again}
        </Link>
        <Link to="/transactions" className={buttonClass('outline')}>
          {t.nav.transactions}
        </Link>
      </div>
    )
  }
  if (stage === 'suspended' || stage === 'running') {
    return (
      <div className={place}>
        <Link to="/wordpress/$id" params={{ id: server.id }} className={buttonClass('outline')}>
          {t.progress.toServer}
        </Link>
      </div>
    )
  }
  return null
}
