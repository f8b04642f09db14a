/**
 * The text of an event in the customer's language; for events without one of ours, the server's own
 * sentence.
 */
import { formatMoney, currency } from '../../contract/money.ts'
import {
  HandOverEvent,
  InvoiceEvent,
  type EventName,
  type Notification,
} from '../../contract/realtime.ts'
import type { Language, TextsWith } from '../i18n/index.ts'
import { hostedToken } from '../invoices/hosted-token.ts'

interface Told {
  event: EventName
  payload: Record<string, unknown>
  title?: string
}

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined

export function notificationText(
  { event, payload, title }: Told,
  t: TextsWith<'events'>,
  language: Language,
): string {
  const invoice = InvoiceEvent.safeParse(payload)
  const payment = invoice.success ? invoice.data.payment : undefined
  const amount = (value: unknown, of: unknown) => {
    const code = currency.safeParse(of)
    return typeof value === 'number' && code.success
      ? formatMoney(value, code.data, language)
      : undefined
  }
  switch (event) {
    case 'invoice.create':
      if (payment) return t.events.created(payment.number)
      break
    case 'invoice.paid':
      if (payment?.number) return t.events.paid(payment.number)
      break
    case 'invoice.payment_failed':
      if (payment)
        return t.events.paymentFailed(
          payment.number,
          amount(payment.amount_due, payment.currency) ?? '',
        )
      break
    case 'invoice.lapsed':
      return t.events.lapsed
    case 'subscribe.create':
    case 'subscription.created':
      return title ?? t.events.subscribed
    case 'subscription.updated':
      return title ?? t.events.subscriptionChanged
    case 'wallet.low': {
      const left = field(payload['wallet'], 'days')
      if (typeof left === 'number') return t.events.walletLow(left)
      break
    }
    case 'wallet.credited':
      if (field(payload['wallet'], 'automatic') === true && title !== undefined) return title
      return creditedText(payload, t, amount) ?? title ?? t.events.credited
    case 'subscription.price_announced':
    case 'wallet.refunded':
    case 'wallet.refund_failed':
    case 'wallet.chargeback':
    case 'wallet.chargeback_returned':
    case 'wallet.adjusted':
    case 'wallet.credit_line':
    case 'wallet.auto_top_up':
    case 'wordpress.disk':
    case 'wordpress.certificate':
    case 'wordpress.mail':
    case 'wordpress.update':
    case 'wordpress.domain':
    case 'dns.status':
    case 'ticket.opened':
    case 'ticket.answered':
    case 'ticket.closed':
    case 'ticket.reopened':
    case 'hand_over.given':
    case 'hand_over.taken':
      break
    case 'wordpress.status': {
      const server = field(payload, 'wp')
      const name = field(server, 'name')
      const status = field(server, 'status')
      // A deleted server appears on no screen, so only events need a word for its state.
      const statuses: Record<string, string> = { ...t.server.statuses, deleted: t.events.deleted }
      if (typeof name === 'string' && status === 'failed') return t.events.failed(name)
      if (typeof name === 'string' && typeof status === 'string')
        return t.events.status(name, statuses[status] ?? status)
      break
    }
  }
  return title ?? event
}

function creditedText(
  payload: Record<string, unknown>,
  t: TextsWith<'events'>,
  amount: (value: unknown, of: unknown) => string | undefined,
): string | undefined {
  const wallet = payload['wallet']
  const text = amount(field(wallet, 'amount'), field(wallet, 'currency'))
  return text === undefined ? undefined : t.events.creditedAmount(text)
}

/** The notification that stands for a group: the server's state, the payment, or the newest. */
export const headOf = (group: readonly Notification[]): Notification | undefined =>
  group.find(({ event }) => event === 'wordpress.status') ??
  group.find(({ event }) => event === 'invoice.paid') ??
  group[0]

/** The page of an unpaid invoice: the order that waits for it, or the invoice itself. */
function unpaidTarget(payload: unknown) {
  const { payment, wp } = InvoiceEvent.safeParse(payload).data ?? {}
  // Only an order's invoice has no number while it is unpaid.
  if (wp && payment?.number === null)
    return { to: '/wordpress-progress/$id', params: { id: wp.id } } as const
  const url = payment?.hosted_invoice_url
  const token =
    url !== undefined && URL.canParse(url) ? hostedToken(new URL(url).pathname) : undefined
  return token === undefined
    ? undefined
    : ({ to: '/invoice/hosted/$token', params: { token } } as const)
}

/** The page of what another customer gave. */
function takenTarget(payload: unknown) {
  const { hand_over: taken } = HandOverEvent.safeParse(payload).data ?? {}
  if (!taken) return undefined
  const to = taken.kind === 'server' ? '/wordpress/$id' : '/dns/domain/$id'
  return { to, params: { id: taken.id } } as const
}

/** The link of a notification. */
export function notificationTarget({
  event,
  payload,
}: Told):
  | { to: '/wordpress/$id' | '/wordpress-progress/$id' | '/dns/domain/$id'; params: { id: string } }
  | { to: '/invoice/hosted/$token'; params: { token: string } }
  | { to: '/invoice' | '/transactions' | '/payment' }
  | { to: '/support'; search: never }
  | undefined {
  const idOf = (name: string): string | undefined => {
    const id = field(payload[name], 'id')
    return typeof id === 'string' ? id : undefined
  }
  const [server, domain, ticket] = [idOf('wp'), idOf('domain'), idOf('ticket')]
  const unpaid = event === 'invoice.payment_failed' ? unpaidTarget(payload) : undefined
  if (unpaid) return unpaid
  if (/^(?:wordpress|subscription|subscribe)\./.test(event) && server !== undefined)
    return { to: '/wordpress/$id', params: { id: server } }
  if (event === 'dns.status' && domain !== undefined)
    return { to: '/dns/domain/$id', params: { id: domain } }
  if (event === 'hand_over.taken') return takenTarget(payload)
  if (event.startsWith('ticket.') && ticket !== undefined)
    return { to: '/support', search: { ticket } as never }
  if (event.startsWith('invoice.')) return { to: '/invoice' }
  if (event === 'wallet.low' || event === 'wallet.auto_top_up') return { to: '/payment' }
  if (event.startsWith('wallet.')) return { to: '/transactions' }
  return undefined
}
