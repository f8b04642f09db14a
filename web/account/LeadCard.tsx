import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTexts } from '../i18n/index.ts'
import { buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'

interface LeadCardProps {
  to: '/account/security' | '/account/team' | '/account/programs'
  title: string
  sub: string
  /** The present state, shown beside the link. */
  state?: ReactNode
}

/** A card that links to a page of its own. */
export function LeadCard({ to, title, sub, state }: LeadCardProps) {
  const open = useTexts('account').account.securityOpen
  return (
    <Card
      title={title}
      sub={sub}
      padded={false}
      action={
        <span className="flex items-center gap-3">
          {state}
          <Link to={to} aria-label={`${open}: ${title}`} className={buttonClass('outline', 'sm')}>
            {open}
          </Link>
        </span>
      }
    >
      {null}
    </Card>
  )
}
