import { Link } from '@tanstack/react-router'
import { useTexts } from '../i18n/index.ts'
import { buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'

/** Leads to the page of the second factor. */
export function SecurityCard() {
  const t = useTexts('account').account
  return (
    <Card
      title={t.security}
      sub={t.securitySub}
      padded={false}
      action={
        <Link
          to="/account/security"
          aria-label={`${t.securityOpen}: ${t.security}`}
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
