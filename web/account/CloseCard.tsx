import { lazy, Suspense, useState } from 'react'
import { useTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'

/** Wanted once, if ever. */
const CloseDialog = lazy(() => loadWanted(() => import('./CloseDialog.tsx')))

/** Leads out: the account is closed for good. */
export function CloseCard() {
  const t = useTexts('account').account
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Card
      title={t.closing}
      sub={t.closingSub}
      padded={false}
      action={
        <Button variant="outline" size="sm" onClick={() => setIsOpen(true)}>
          {t.closingBegin}
        </Button>
      }
    >
      {isOpen ? (
        <Suspense fallback={null}>
          <CloseDialog onClose={() => setIsOpen(false)} />
        </Suspense>
      ) : null}
    </Card>
  )
}
