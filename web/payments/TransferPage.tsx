import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { CircleCheck, ExternalLink, SearchX } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import { getTransfer, type Transfer } from '../../contract/payments.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { onPortalEvent } from '../realtime/channel.ts'
import { HelpLink } from '../support/HelpLink.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { cx } from '../ui/cx.ts'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, LoadError, Note, Skeleton } from '../ui/State.tsx'
import { QrCode } from './QrCode.tsx'

const route = getRouteApi('/app/payment/transfer/$code')
const pollMs = 4000
const isUnknown = (error: unknown) => error instanceof ApiError && error.status === 404

const transferQuery = (code: string) =>
  queryOptions({
    queryKey: ['transfer', code],
    queryFn: ({ signal }) => call(getTransfer, { query: { transactionCode: code } }, { signal }),
    // A late transfer is still credited, so the page keeps polling. An unknown code never becomes a
    // payment.
    refetchInterval: ({ state }) =>
      state.data?.status === 'succeeded' || isUnknown(state.error) ? false : pollMs,
  })

/**
 * Instructions for one bank transfer: QR code, lines to copy, a countdown. The page shows the
 * success by itself.
 */
export default function TransferPage() {
  const t = useTexts('payments')
  const { code } = route.useParams()
  const queryClient = useQueryClient()
  const { data, isPending, error, refetch } = useQuery(transferQuery(code))
  const arrived = data?.received ?? 0
  useEffect(() => onPortalEvent(() => void refetch()), [refetch])
  useEffect(() => {
    if (arrived > 0)
      for (const subject of ['me', 'transactions', 'invoices', 'servers'])
        void queryClient.invalidateQueries({ queryKey: [subject] })
  }, [arrived, queryClient])

  return (
    <>
      <title>{`${t.transfer.title} · ${brand}`}</title>
      <PageHead title={t.transfer.title} sub={t.transfer.sub} />
      <section className="card mx-auto max-w-3xl p-5 sm:p-6">
        {isPending ? (
          <div aria-busy="true" className="grid gap-6 sm:grid-cols-[240px_1fr]">
            <Skeleton className="aspect-square w-full" />
            <Skeleton className="h-60 w-full" />
          </div>
        ) : null}
        {isUnknown(error) ? (
          <Empty
            text={t.transfer.unknown}
            art={<SearchX aria-hidden className="size-8 text-ink-3" strokeWidth={1.5} />}
          >
            <p className="max-w-md text-sm text-ink-3">{t.transfer.unknownText}</p>
            <Link to="/payment" className={buttonClass('outline')}>
              {t.transfer.back}
            </Link>
          </Empty>
        ) : null}
        {error && !data && !isUnknown(error) ? (
          <LoadError
            text={messageOf(error)}
            retryLabel={t.common.retry}
            onRetry={() => void refetch()}
          />
        ) : null}
        {data && !isUnknown(error) ? <Known transfer={data} /> : null}
      </section>
      {data && !isUnknown(error) ? (
        <p className="mx-auto mt-4 flex max-w-3xl justify-end">
          <HelpLink kind="payment" id={code} />
        </p>
      ) : null}
    </>
  )
}

const Known = ({ transfer }: { transfer: Transfer }) =>
  transfer.received > 0 ? <Arrived transfer={transfer} /> : <Waiting transfer={transfer} />

function Arrived({ transfer }: { transfer: Transfer }) {
  const t = useTexts('payments')
  const { money } = useFormat()
  return (
    <div className="py-6 text-center">
      <span
        aria-hidden
        className={
          'mx-auto grid size-14 place-items-center rounded-full bg-success-soft ' + 'text-success'
        }
      >
        <CircleCheck className="size-7" strokeWidth={1.75} />
      </span>
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
      <div role="status">
        <h2 className="mt-4 text-xl font-semibold">{t.transfer.done}</h2>
        <p className="num mt-1.5 text-sm text-ink-2">
          {t.transfer.doneText(money(transfer.received, transfer.currency))}
        </p>
        {transfer.received === transfer.amount ? null : (
          <p className="num mt-1 text-sm text-ink-3">
            {t.transfer.other(money(transfer.amount, transfer.currency))}
          </p>
        )}
        {transfer.setOff ? (
          <p className="num mt-1 text-sm text-ink-2">
            {t.transfer.setOff(money(transfer.setOff.amount, transfer.setOff.currency))}
          </p>
        ) : null}
      </div>
      <div className="mt-6 flex flex-col gap-2 sm:flex-row sm:justify-center">
        <Link to="/" className={buttonClass()}>
          {t.common.home}
        </Link>
        <Link to="/transactions" className={buttonClass('outline')}>
          {t.nav.transactions}
        </Link>
      </div>
    </div>
  )
}

function Waiting({ transfer }: { transfer: Transfer }) {
  const t = useTexts('payments')
  const { money } = useFormat()
  const left = useSecondsUntil(transfer.expiresAt)
  const clock = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
  return (
    <div className="grid grid-cols-1 gap-6 sm:grid-cols-[240px_minmax(0,1fr)] sm:gap-8">
      <div className="min-w-0">
        {left > 0 ? (
          <p className="num flex items-center gap-2 text-sm font-medium text-ink-2">
            <span
              aria-hidden
              className="pulse-dot block size-2 shrink-0 rounded-full bg-primary text-primary"
            />
            {t.transfer.left(clock)}
          </p>
        ) : (
          <Note tone="warning">{t.transfer.late}</Note>
        )}
        <dl className="mt-2 divide-y divide-border text-sm">
          <Line term={t.transfer.bank}>{transfer.bankName}</Line>
          <Line term={t.transfer.account} copy={transfer.accountNumber}>
            <span className="num">{transfer.accountNumber}</span>
          </Line>
          <Line term={t.transfer.name}>{transfer.accountName}</Line>
          <Line term={t.transfer.amount} copy={String(transfer.amount)}>
            <span className="num font-semibold">{money(transfer.amount, transfer.currency)}</span>
          </Line>
          <Line term={t.transfer.content} copy={transfer.content}>
            <span className="font-mono font-semibold text-primary-ink">{transfer.content}</span>
          </Line>
        </dl>
        <p className="mt-3 text-xs text-ink-2">{t.transfer.contentHint}</p>
        <p className="mt-1 text-xs text-ink-3">{t.transfer.next}</p>
        <div className="mt-5 flex flex-wrap gap-2">
          {transfer.appUrl === null ? null : (
            <a
              href={transfer.appUrl}
              target="_blank"
              rel="noreferrer"
              className={cx(buttonClass(), 'h-auto! min-h-9 shrink! py-1.5 whitespace-normal!')}
            >
              {t.transfer.openApp}
              <ExternalLink aria-hidden className="size-4" />
            </a>
          )}
          <Link to="/payment" className={buttonClass('outline')}>
            {t.transfer.back}
          </Link>
        </div>
      </div>
      {/* Below the lines on phones, because a phone cannot scan its own screen. */}
      <figure className="mx-auto w-full max-w-60 sm:order-first sm:mx-0">
        <QrCode
          text={transfer.qr}
          label={t.transfer.qr}
          className="w-full rounded-lg border border-border"
        />
        <figcaption className="mt-2 text-center text-xs text-ink-3">
          <span className="max-sm:hidden">{t.transfer.scan}</span>
          <span className="sm:hidden">{t.transfer.scanHere}</span>
        </figcaption>
      </figure>
    </div>
  )
}

function Line({ term, copy, children }: { term: string; copy?: string; children: ReactNode }) {
  const t = useTexts('payments')
  return (
    <div className="relative min-h-11 items-center justify-between gap-x-4 py-1.5 sm:flex">
      <dt className="shrink-0 text-ink-3 max-sm:text-xs">{term}</dt>
      <dd
        className={cx(
          'flex min-w-0 items-center gap-1 font-medium break-words',
          'max-sm:text-base sm:ml-auto sm:text-right',
          copy !== undefined && 'max-sm:pr-12',
        )}
      >
        {children}
        {copy === undefined ? null : (
          <CopyButton
            text={copy}
            label={t.common.copyOf(term)}
            doneLabel={t.common.copied}
            // On phones the whole line is the button.
            className={
              'text-ink-3 sm:-mr-2 max-sm:absolute max-sm:inset-0 max-sm:size-auto! ' +
              'max-sm:justify-items-end! max-sm:hover:bg-transparent!'
            }
          />
        )}
      </dd>
    </div>
  )
}

/** Whole seconds until a moment; 0 after it. */
function useSecondsUntil(at: string): number {
  const until = Date.parse(at)
  const read = () => Math.max(0, Math.ceil((until - Date.now()) / 1000))
  const [left, setLeft] = useState(read)
  useEffect(() => {
    const tick = setInterval(
      () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000))),
      1000,
    )
    return () => clearInterval(tick)
  }, [until])
  return left
}
