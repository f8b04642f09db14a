/** A customer's top-ups, invoices and servers, the older ones page by page. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { formatMoney, toMajor } from '../../contract/money.ts'
import type { ActName } from '../../contract/operator-acts.ts'
import type { PaymentAtDesk, ServerAtDesk } from '../../contract/operator-customer-lists.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { OperatorTexts } from '../i18n/en-operator.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { LoadMore, type PagedRead } from '../ui/LoadMore.tsx'
import { LoadError } from '../ui/State.tsx'
import type { WantedAct } from './ActDialog.tsx'
import { isGrave } from './act-fields.ts'
import { badgeOf, ListCard, type Row } from './CustomerCards.tsx'
import { timeOf, useDeskLanguage, useDeskTexts, type DeskLanguage } from './language.ts'
import {
  customerInvoicesQuery,
  customerPaymentsQuery,
  customerServersQuery,
  paymentQuery,
} from './queries.ts'

/** Opens an act's dialog, if the member's role allows the act. */
export type AskAct = (act: ActName, more?: Partial<WantedAct>) => void

interface Lists {
  of: CustomerStory
  may: (act: ActName) => boolean
  ask: AskAct
}

interface Pages<R> extends PagedRead {
  readonly data: { readonly pages: readonly { readonly result: readonly R[] }[] } | undefined
  readonly error: Error | null
  readonly isFetching: boolean
  refetch(): unknown
}

/** A list of the customer's page, of which the whole is read once somebody asks for more. */
interface Older<R> {
  readonly shown: readonly R[]
  readonly hasMore: boolean
  readonly isOpen: boolean
  open(): void
}
/** `hasMore` is undefined where a portal of the release before has answered. */
function useOlder<R>(shown: readonly R[], hasMore = false): Older<R> {
  const [isOpen, setOpen] = useState(false)
  return { shown, hasMore, isOpen, open: () => setOpen(true) }
}

const rowsOf = <R,>({ shown, isOpen }: Older<R>, { data }: Pages<R>): readonly R[] =>
  isOpen && data ? data.pages.flatMap(({ result }) => result) : shown

function More<R>({ of: { hasMore, isOpen, open }, list }: { of: Older<R>; list: Pages<R> }) {
  const t = useDeskTexts()
  const { data, error } = list
  const isFirst = isOpen && data === undefined
  return (
    <LoadMore
      list={{
        hasNextPage: isOpen && data ? list.hasNextPage : hasMore,
        isFetchingNextPage: list.isFetchingNextPage || (isFirst && list.isFetching),
        isFetchNextPageError: list.isFetchNextPageError || (isFirst && error !== null),
        fetchNextPage() {
          if (!isOpen) open()
          else if (isFirst) list.refetch()
          else list.fetchNextPage()
        },
      }}
      label={t.more}
      failedText={error?.message ?? ''}
      retryLabel={t.retry}
      size="sm"
      className="border-t border-border p-3"
    />
  )
}

/** A top-up with its refund, by the gateway or by hand, where that is possible and allowed. */
function paymentRow(
  {
    code,
    at,
    gateway,
    amount,
    currency,
    status,
    givenBack,
    refundable,
    refundableByHand,
  }: PaymentAtDesk,
  t: OperatorTexts,
  language: DeskLanguage,
  { may, ask }: Pick<Lists, 'may' | 'ask'>,
): Row {
  const money = (sum: number): string => formatMoney(sum, currency, language)
  // Both, where the gateway has refused one.
  const ways = [
    ...(refundable ? (['money.refund'] as const) : []),
    ...(refundableByHand ? (['money.refund_by_hand'] as const) : []),
  ].filter(may)
  return {
    key: code,
    main: gateway,
    sub:
      `${code} · ${timeOf(at)}` +
      (givenBack > 0 ? ` · ${t.customer.givenBack(money(givenBack))}` : ''),
    end: money(amount),
    ...badgeOf(t, givenBack >= amount ? 'refunded' : status),
    action:
      ways.length > 0 ? (
        <span className="flex flex-wrap justify-end gap-2">
          {ways.map((act) => (
            <Button
              key={act}
              variant="outline"
              size="sm"
              onClick={() =>
                ask(act, {
                  about: `${money(amount)} · ${code}`,
                  fixed: { payment: code },
                  currency,
                  // The amount that is still refundable; the member may lower it.
                  initial: { amount: toMajor(amount - givenBack, currency) },
                })
              }
            >
              {act === 'money.refund' ? t.customer.refund : t.customer.refundByHand}
            </Button>
          ))}
        </span>
      ) : undefined,
  }
}

export function PaymentsCard({ of, ...acts }: Lists) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const older = useOlder(of.payments, of.more?.payments)
  const list = useInfiniteQuery({ ...customerPaymentsQuery(of.id), enabled: older.isOpen })
  return (
    <ListCard
      title={t.customer.payments}
      rows={rowsOf(older, list).map((row) => paymentRow(row, t, language, acts))}
      more={<More of={older} list={list} />}
    />
  )
}

/** The top-up that a search found, however old it is. */
export function FoundPayment({ of, code, ...acts }: Lists & { code: string }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const { data, error, refetch } = useQuery(paymentQuery(of.id, code))
  return (
    <div className="mb-5">
      {error && !data ? (
        <Card>
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        </Card>
      ) : null}
      {data ? (
        <ListCard
          title={t.customer.foundPayment}
          rows={data.map((row) => paymentRow(row, t, language, acts))}
        />
      ) : null}
    </div>
  )
}

export function InvoicesCard({ of }: Pick<Lists, 'of'>) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const older = useOlder(of.invoices, of.more?.invoices)
  const list = useInfiniteQuery({ ...customerInvoicesQuery(of.id), enabled: older.isOpen })
  return (
    <ListCard
      title={t.customer.invoices}
      rows={rowsOf(older, list).map(({ id, number, at, total, currency, status }) => ({
        key: id,
        main: number ?? t.customer.draft,
        to: `/invoices/${id}`,
        sub: timeOf(at),
        end: formatMoney(total, currency, language),
        ...badgeOf(t, status),
      }))}
      more={<More of={older} list={list} />}
    />
  )
}

export function ServersCard({ of, may, ask }: Lists) {
  const t = useDeskTexts()
  const older = useOlder(of.servers, of.more?.servers)
  const list = useInfiniteQuery({ ...customerServersQuery(of.id), enabled: older.isOpen })
  return (
    <ListCard
      title={t.customer.servers}
      rows={rowsOf(older, list).map((server) => ({
        key: server.id,
        main: server.name,
        sub: serverSub(server, t),
        ...(server.held
          ? { badge: t.customer.held, tone: 'warning' as const }
          : badgeOf(t, server.status)),
        action: serverActs(server, may, (act) =>
          ask(act, { about: server.name, fixed: { server: server.id } }),
        ),
      }))}
      more={<More of={older} list={list} />}
    />
  )
}

/**
 * The acts on a running server: give time to pay, suspend and release it or its mail, move it, undo
 * the move while the original is kept, and cancel it.
 */
function serverActs(
  { held, status, movesTo, undoUntil, mailSuspended, overdue }: ServerAtDesk,
  may: (act: ActName) => boolean,
  onAsk: (act: ActName) => void,
): ReactNode {
  const acts: ActName[] = []
  if (undoUntil !== null) acts.push('server.undo_move')
  else if (movesTo === null && (status === 'running' || status === 'suspended'))
    acts.push('server.move')
  if (held) acts.push('work.release_server')
  else if (status === 'running') acts.push('work.hold_server')
  if (overdue) acts.push('work.put_off')
  if (mailSuspended) acts.push('mail.resume')
  else if (status === 'running') acts.push('mail.suspend')
  if (status === 'running' || status === 'suspended') acts.push('server.cancel')
  const offered = acts.filter(may)
  if (offered.length === 0) return undefined
  return (
    <span className="flex flex-wrap gap-2">
      {offered.map((act) => (
        <ServerButton key={act} act={act} onAsk={onAsk} />
      ))}
    </span>
  )
}

/** The server's node, and the state of a move. */
function serverSub(server: ServerAtDesk, t: OperatorTexts): string {
  const { createdAt, why, node, movesTo, moveFailed, undoUntil, mailSuspended } = server
  return [
    timeOf(createdAt),
    t.customer.onNode(node),
    movesTo === null ? null : t.customer.movesTo(movesTo),
    moveFailed === null ? null : t.customer.moveFailed(moveFailed),
    undoUntil === null ? null : t.customer.undoUntil(timeOf(undoUntil)),
    mailSuspended && t.customer.mailSuspended(t.customer.mailCauses[mailSuspended.cause]),
    mailSuspended && mailSuspended.note,
    why,
  ]
    .filter((part) => part !== null)
    .join(' · ')
}
function ServerButton({ act, onAsk }: { act: ActName; onAsk: (act: ActName) => void }) {
  const t = useDeskTexts()
  return (
    <Button variant={isGrave(act) ? 'danger' : 'outline'} size="sm" onClick={() => onAsk(act)}>
      {t.acts[act]}
    </Button>
  )
}
