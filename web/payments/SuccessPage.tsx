import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  CircleCheck,
  CircleX,
  Clock,
  Hourglass,
  LogIn,
  SearchX,
  type LucideIcon,
} from 'lucide-react'
import { useEffect, type ReactNode } from 'react'
import { toMajor } from '../../contract/money.ts'
import { getTransaction, type PaymentStatus } from '../../contract/payments.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { configQuery, meQuery } from '../queries.ts'
import { onPortalEvent, startRealtime } from '../realtime/channel.ts'
import type { LoadInput } from '../load-input.ts'
import { resumeAs } from '../resume-as.ts'
import { session, useSignedIn } from '../session.ts'
import { LanguageMenu, ThemeMenu } from '../shell/HeaderMenus.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { cx } from '../ui/cx.ts'
import { Logo } from '../ui/Logo.tsx'
import { LoadError, Skeleton } from '../ui/State.tsx'
import { serversQuery } from '../wordpress/queries.ts'
import { transactionCode } from './top-up-form.ts'

const pollMs = 3000
const latePollMs = 20_000
/**
 * How often the servers are refetched while the money may still pay an order: the charge follows
 * the credit within moments.
 */
const serverReads = 5
const isUnknown = (error: unknown) => error instanceof ApiError && error.status === 404

const paymentQuery = (code: string) =>
  queryOptions({
    queryKey: ['payment', code],
    // `ask: 'now'` makes the server query the gateway at once, because a gateway may send no
    // webhook about a payment that was abandoned.
    queryFn: ({ signal }) =>
      call(getTransaction, { query: { transactionCode: code, ask: 'now' } }, { signal }),
    // A failed or expired payment may still be paid, so it is polled, but rarely. An unknown code
    // never becomes a payment.
    refetchInterval({ state: { data, error } }) {
      if (data?.status === 'succeeded' || isUnknown(error)) return false
      return data?.status === 'pending' ? pollMs : latePollMs
    },
  })

export const load = async ({ queryClient }: LoadInput) => {
  session.adopt()
  await resumeAs(queryClient)
  const code = transactionCode(location.search)
  if (code !== undefined && session.signedIn()) await queryClient.prefetchQuery(paymentQuery(code))
}

/**
 * The page to which a gateway returns the browser. Its content comes from our server, never from
 * the address.
 */
export default function SuccessPage() {
  const t = useTexts('topUp')
  const signedIn = useSignedIn()
  const code = transactionCode(location.search)
  let outcome = <SignedOut />
  if (code === undefined) outcome = <Unknown />
  else if (signedIn) outcome = <Payment code={code} />
  return (
    <div className="mx-auto flex min-h-dvh max-w-lg flex-col px-4 pb-10 sm:px-6">
      <title>{`${t.payment.title} · ${brand}`}</title>
      <header className="flex h-16 items-center gap-1">
        <Link to="/" className="flex items-center gap-2.5 rounded-md font-semibold">
          <Logo />
          {brand}
        </Link>
        <span className="flex-1" />
        <LanguageMenu />
        <ThemeMenu />
      </header>
      <main id="main" className="grid flex-1 place-items-center py-6">
        <div className="card w-full p-6 sm:p-8">{outcome}</div>
      </main>
    </div>
  )
}

const looks: Record<
  PaymentStatus | 'held' | 'unknown' | 'signedOut',
  { icon: LucideIcon; look: string }
> = {
  succeeded: { icon: CircleCheck, look: 'bg-success-soft text-success' },
  pending: { icon: Clock, look: 'bg-primary-soft text-primary-ink' },
  failed: { icon: CircleX, look: 'bg-danger-soft text-danger' },
  expired: { icon: Clock, look: 'bg-warning-soft text-warning' },
  held: { icon: Hourglass, look: 'bg-warning-soft text-warning' },
  unknown: { icon: SearchX, look: 'bg-subtle text-ink-2' },
  signedOut: { icon: LogIn, look: 'bg-subtle text-ink-2' },
}

function Outcome({
  state,
  title,
  text,
  children,
}: {
  state: keyof typeof looks
  title: string
  text: string
  children: ReactNode
}) {
  const { icon: Icon, look } = looks[state]
  return (
    <>
      <span
        aria-hidden
        className={cx('mx-auto grid size-14 place-items-center rounded-full', look)}
      >
        <Icon className="size-7" strokeWidth={1.75} />
      </span>
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
      <div role="status" className="mt-4 text-center">
        <h1 tabIndex={-1} className="text-xl font-semibold">
          {title}
        </h1>
        <p className="mt-1.5 text-sm text-ink-2">{text}</p>
      </div>
      {children}
    </>
  )
}

const actions = 'mt-6 flex flex-col gap-2 sm:flex-row sm:justify-center'

function Payment({ code }: { code: string }) {
  const t = useTexts('topUp')
  const { money } = useFormat()
  const queryClient = useQueryClient()
  const { data, isPending, error, refetch } = useQuery(paymentQuery(code))
  const status = data?.status
  useLiveUpdates(status === 'pending', () => void refetch())
  useEffect(() => {
    if (status === 'succeeded')
      for (const subject of ['me', 'transactions', 'invoices', 'servers'])
        void queryClient.invalidateQueries({ queryKey: [subject] })
  }, [status, queryClient])

  if (isPending) {
    return (
      <div aria-busy="true" className="grid justify-items-center gap-4">
        <Skeleton className="size-14 rounded-full" />
        <Skeleton className="h-6 w-48" />
        <Skeleton className="h-40 w-full" />
      </div>
    )
  }
  if (isUnknown(error)) return <Unknown />
  if (!data)
    return (
      <LoadError
        text={messageOf(error)}
        retryLabel={t.common.retry}
        onRetry={() => void refetch()}
      />
    )

  // For a paid payment, held money is shown beside the result.
  const held = status === 'succeeded' ? null : data.held
  const extra = status === 'succeeded' ? data.held : null
  const state = held ? 'held' : data.status
  const again = state === 'failed' || state === 'expired'
  const words: Record<PaymentStatus, [string, string]> = {
    succeeded: [t.payment.succeeded, t.payment.succeededText],
    pending: [t.payment.pending, t.payment.pendingText],
    failed: [
      t.payment.failed,
      data.reason === null
        ? t.payment.failedText
        : `${t.payment.reasons[data.reason]} ${t.payment.failedText}`,
    ],
    expired: [t.payment.expired, t.payment.expiredText],
  }
  const [title, text] = held
    ? [
        t.payment.held,
        t.payment.heldText(money(held.amount, held.currency), money(data.amount, data.currency)),
      ]
    : words[data.status]
  return (
    <Outcome state={state} title={title} text={text}>
      {state === 'pending' ? (
        <span
          aria-hidden
          className="pulse-dot mx-auto mt-4 block size-2 rounded-full bg-primary text-primary"
        />
      ) : null}
      <dl
        className={
          'mt-6 divide-y divide-border rounded-lg text-sm ' +
          'shadow-[inset_0_0_0_1px_var(--border)]'
        }
      >
        <Line term={t.payment.code}>
          <span className="font-mono text-xs break-all">{data.transactionCode}</span>
          <CopyButton
            text={data.transactionCode}
            label={t.common.copyOf(t.payment.code)}
            doneLabel={t.common.copied}
            className="-my-1.5 -mr-2 text-ink-3"
          />
        </Line>
        <Line term={t.payment.amount}>
          <span className="num font-semibold">{money(data.amount, data.currency)}</span>
        </Line>
        <Line term={t.payment.content}>{data.description}</Line>
        <Line term={t.payment.time}>
          <time dateTime={data.createdAt} className="num">
            {formatTime(data.createdAt)}
          </time>
        </Line>
      </dl>
      {data.setOff ? (
        <p className="mt-4 text-sm text-ink-2">
          {t.payment.setOff(money(data.setOff.amount, data.setOff.currency))}
        </p>
      ) : null}
      {extra ? (
        <p className="mt-4 text-sm text-ink-2">
          {t.payment.paidTwice(money(extra.amount, extra.currency))}
        </p>
      ) : null}
      <div className={actions}>
        {/* First what the customer came for: to pay after all, with the same amount. */}
        {again ? (
          <Link
            to="/payment"
            search={{ amount: toMajor(data.amount, data.currency).replace(/\.00$/, '') }}
            className={buttonClass()}
          >
            {t.payment.again}
          </Link>
        ) : null}
        <Link to="/" className={buttonClass(again ? 'outline' : undefined)}>
          {t.common.home}
        </Link>
        {state === 'succeeded' ? <PaidOrder /> : null}
      </div>
    </Outcome>
  )
}

/** Where the money paid an order at once: the link to the server that is being set up. */
function PaidOrder() {
  const t = useTexts('topUp')
  const { data } = useQuery({
    ...serversQuery,
    refetchInterval: ({ state: { data: read, dataUpdateCount } }) =>
      dataUpdateCount < serverReads &&
      read?.result.some(({ status }) => status === 'pending_payment')
        ? pollMs
        : false,
  })
  const server = data?.result.find(({ status }) => status === 'provisioning')
  return server ? (
    <Link
      to="/wordpress-progress/$id"
      params={{ id: server.id }}
      className={buttonClass('outline')}
    >
      {t.payment.toServer}
    </Link>
  ) : null
}

function Line({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="flex items-center justify-between gap-4 px-3.5 py-2.5">
      <dt className="shrink-0 text-ink-3">{term}</dt>
      <dd className="flex min-w-0 items-center gap-1 text-right font-medium">{children}</dd>
    </div>
  )
}

/**
 * This page is outside the layout that listens for the portal's events, so it listens itself while
 * it waits.
 */
function useLiveUpdates(waiting: boolean, nudge: () => void) {
  const queryClient = useQueryClient()
  useEffect(() => {
    if (!waiting) return
    let stop = () => {}
    let left = false
    void Promise.all([
      queryClient.ensureQueryData(meQuery),
      queryClient.ensureQueryData(configQuery),
    ])
      .then(([user, config]) => {
        if (!left) stop = startRealtime(user.id, config.realtime)
      })
      .catch(() => {})
    const forget = onPortalEvent(nudge)
    return () => {
      left = true
      forget()
      stop()
    }
    // `nudge` only refetches, so an older one does as well as the newest.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [waiting, queryClient])
}

function Unknown() {
  const t = useTexts('topUp')
  return (
    <Outcome state="unknown" title={t.payment.unknown} text={t.payment.unknownText}>
      <div className={actions}>
        <Link to="/" className={buttonClass()}>
          {t.common.home}
        </Link>
        <Link to="/transactions" className={buttonClass('outline')}>
          {t.nav.transactions}
        </Link>
      </div>
    </Outcome>
  )
}

function SignedOut() {
  const t = useTexts('topUp')
  return (
    <Outcome state="signedOut" title={t.payment.signedOut} text={t.payment.signedOutText}>
      <div className={actions}>
        <Link
          to="/login"
          search={{ next: location.pathname + location.search }}
          className={buttonClass()}
        >
          {t.payment.signIn}
        </Link>
      </div>
    </Outcome>
  )
}
