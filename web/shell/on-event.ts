/**
 * Handles events for the rest of the portal. It is loaded with the channel, after the page, so that
 * nothing waits for it.
 */
import type { QueryClient } from '@tanstack/react-query'
import * as z from 'zod/mini'
import type { EventName } from '../../contract/realtime.ts'
import { currentLanguage, currentTexts, loadTexts, type TextsWith } from '../i18n/index.ts'
import type { PortalEvent } from '../realtime/portal-event.ts'
import { readAgain } from '../realtime/read-again.ts'
import { toast } from '../ui/toast.ts'

/** The subjects to refetch after an event; the first part of a query's key names its subject. */
const touched: Record<EventName, readonly string[]> = {
  'invoice.create': ['invoices'],
  'subscribe.create': ['servers'],
  'subscription.created': ['servers', 'subscriptions', 'runway'],
  'subscription.updated': ['servers', 'subscriptions', 'runway'],
  'subscription.price_announced': ['subscriptions', 'runway'],
  'invoice.paid': ['invoices', 'me', 'transactions', 'servers', 'subscriptions', 'runway'],
  'invoice.payment_failed': ['invoices', 'servers'],
  'invoice.lapsed': ['invoices', 'servers', 'subscriptions'],
  'wordpress.status': ['servers', 'me', 'transactions'],
  'wordpress.disk': ['usage'],
  'wordpress.certificate': ['https'],
  'wordpress.mail': ['mail'],
  'wordpress.update': ['updates', 'backups'],
  'wordpress.domain': ['servers', 'https'],
  'wallet.credited': ['me', 'transactions', 'payment', 'runway', 'auto-top-up'],
  'wallet.low': ['runway'],
  'wallet.refunded': ['me', 'transactions', 'payment', 'runway'],
  'wallet.refund_failed': ['me', 'transactions', 'payment', 'runway'],
  'wallet.chargeback': ['me', 'transactions', 'payment', 'runway'],
  'wallet.chargeback_returned': ['me', 'transactions', 'payment', 'runway'],
  'wallet.adjusted': ['me', 'transactions', 'runway'],
  'wallet.credit_line': ['me', 'transactions', 'runway'],
  'wallet.auto_top_up': ['auto-top-up'],
  'dns.status': ['dns'],
  'ticket.opened': ['tickets'],
  'ticket.answered': ['tickets'],
  'ticket.closed': ['tickets'],
  'ticket.reopened': ['tickets'],
  'hand_over.given': ['servers', 'dns', 'subscriptions', 'runway', 'account'],
  'hand_over.taken': ['servers', 'dns', 'subscriptions', 'runway', 'account'],
}

/** Events that show a toast; the others only appear in the bell. */
const announced = new Set<EventName>([
  'invoice.paid',
  'invoice.payment_failed',
  'subscription.created',
  'subscription.updated',
  'wallet.credited',
  'wordpress.status',
])

/**
 * Refetches what an event changed; undefined: anything may have changed. Some events also show a
 * toast.
 */
export function applyEvent(queryClient: QueryClient, event: PortalEvent | undefined): void {
  const subjects = event ? touched[event.event] : Object.values(touched).flat()
  for (const subject of new Set(['notifications', ...subjects])) readAgain(queryClient, subject)
  if (event?.pushed && announced.has(event.event) && interrupts(event)) void announce(event)
}

const Facts = z.object({
  subscription: z.nullish(z.object({ status: z.string() })),
  wp: z.nullish(z.object({ id: z.optional(z.string()), status: z.optional(z.string()) })),
})
/**
 * A server's status interrupts only if it is failed, a changed subscription only if it is active;
 * the bell shows the rest.
 */
function interrupts({ event, payload }: PortalEvent): boolean {
  const facts = Facts.safeParse(payload).data
  if (event === 'wordpress.status') return facts?.wp?.status === 'failed'
  return event !== 'subscription.updated' || facts?.subscription?.status === 'active'
}

/**
 * Its texts are loaded with the bell's list. If they cannot be loaded, only the bell shows the
 * event.
 */
async function announce(event: PortalEvent): Promise<void> {
  const words = await Promise.all([import('./notification-text.ts'), loadTexts('events')]).catch(
    () => undefined,
  )
  if (words === undefined) return
  const t = currentTexts() as TextsWith<'events'>
  const text = words[0].notificationText(event, t, currentLanguage())
  // The pages between order and wallet show a failed payment, and a server's own page its failure.
  if (event.event === 'invoice.payment_failed') {
    const onTheWay = /^\/(?:wordpress-progress|payment)(?:\/|$)/.test(location.pathname)
    if (!onTheWay) toast.badNews(t.toast.error, text)
  } else if (event.event === 'wordpress.status') {
    const id = Facts.safeParse(event.payload).data?.wp?.id
    if (location.pathname !== `/wordpress-progress/${id}`) toast.badNews(t.toast.error, text)
  } else toast.news(t.toast.success, text)
}
