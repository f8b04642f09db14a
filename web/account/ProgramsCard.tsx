import { Link } from '@tanstack/react-router'
import { useTexts } from '../i18n/index.ts'
import { buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'

/** Leads to the page of tokens and webhooks. */
export function ProgramsCard() {
  const t = useTexts('account').account
  return (
    <Card
      title={t.programs}
      sub={t.programsSub}
      padded={false}
      action={
        <Link
          to="/account/programs"
          aria-label={`${t.securityOpen}: ${t.programs}`}
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
