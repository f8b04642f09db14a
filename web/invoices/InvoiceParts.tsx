import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Invoice } from '../../contract/billing.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { hostedToken } from './hosted-token.ts'

/**
 * Paid where nothing is due, UnPaid where something is. Void, lapsed and refunded invoices and
 * credit notes show neither.
 */
export function InvoiceBadge({
  invoice,
}: {
  invoice: Pick<Invoice, 'amount_due' | 'status' | 'kind' | 'lapsesAt'>
}) {
  const t = useTexts('invoices')
  if (invoice.status === 'void')
    return <Badge dot>{invoice.lapsesAt === null ? t.invoices.void : t.invoices.lapsed}</Badge>
  if (invoice.kind === 'credit') {
    return (
      <Badge tone="info" dot>
        {t.invoices.credit}
      </Badge>
    )
  }
  if (invoice.status === 'refunded') {
    return (
      <Badge tone="info" dot>
        {t.invoices.refunded}
      </Badge>
    )
  }
  return invoice.amount_due > 0 ? (
    <Badge tone="warning" dot>
      {t.invoices.unpaid}
    </Badge>
  ) : (
    <Badge tone="success" dot>
      {t.invoices.paid}
    </Badge>
  )
}

interface HostedLinkProps {
  url: string
  className?: string
  label?: string
  children: ReactNode
}

/**
 * The hosted page opens in this tab, because the session in it allows payment from the wallet. An
 * address of another host (a provider's own page) opens in a new tab.
 */
export function HostedLink({ url, className, label, children }: HostedLinkProps) {
  const target = new URL(url, location.href)
  const token = target.origin === location.origin ? hostedToken(target.pathname) : undefined
  if (token !== undefined) {
    return (
      <Link
        to="/invoice/hosted/$token"
        params={{ token }}
        className={className}
        aria-label={label}
        title={label}
      >
        {children}
      </Link>
    )
  }
  return (
    <a
      href={target.href}
      target="_blank"
      rel="noreferrer"
      className={className}
      aria-label={label}
      title={label}
    >
      {children}
    </a>
  )
}
