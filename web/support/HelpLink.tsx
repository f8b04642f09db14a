import { Link } from '@tanstack/react-router'
import { LifeBuoy } from 'lucide-react'
import type { TicketObjectKind } from '../../contract/tickets.ts'
import { useLanguage } from '../i18n/index.ts'
import { may } from '../may.ts'
import { buttonClass } from '../ui/Button.tsx'

interface HelpLinkProps {
  kind: TicketObjectKind
  id: string
  /** The name of its subject, where a list has several such links. */
  of?: string
  size?: 'sm'
}

/**
 * Opens a new ticket about this subject. Its text is inline, so that no group of texts is loaded
 * for it.
 */
export function HelpLink({ kind, id, of, size }: HelpLinkProps) {
  const words = useLanguage() === 'vi' ? 'Nhờ hỗ trợ' : 'Get help'
  if (!may('tickets:write')) return null
  return (
    <Link
      to="/support"
      search={{ about: `${kind}.${id}` } as never}
      aria-label={of === undefined ? undefined : `${words}: ${of}`}
      className={buttonClass('outline', size)}
    >
      <LifeBuoy aria-hidden className="size-4" />
      {words}
    </Link>
  )
}
