import { lazy, Suspense, useState } from 'react'
import { useTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'

/** Loaded on demand: a customer needs it once at most. */
const CloseDialog = lazy(() => loadWanted(() => import('./CloseDialog.tsx')))

/** Opens the dialog that closes the account for good. */
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
