import { Link } from '@tanstack/react-router'
import { useTexts } from '../i18n/index.ts'
import { buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'

/** Leads to the page of members and invitations. */
export function TeamCard() {
  const t = useTexts('account').account
  return (
    <Card
      title={t.team}
      sub={t.teamSub}
      padded={false}
      action={
        <Link
          to="/account/team"
          aria-label={`${t.securityOpen}: ${t.team}`}
          className={buttonClass('outline', 'sm')}
        >
          {t.securityOpen}
        </Link>
      }
    >
      {null}
    </Card>
  )
}
