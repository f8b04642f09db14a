import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'

/** Asks before leaving a filled-in order. */
export default function LeaveDialog({
  open,
  onStay,
  onLeave,
}: {
  open: boolean
  onStay: () => void
  onLeave: () => void
}) {
  const t = useTexts('review')
  return (
    <Dialog
      open={open}
      onClose={onStay}
      title={t.review.leaveTitle}
      description={t.review.leaveText}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onStay}>
            {t.review.leaveStay}
          </Button>
          <Button onClick={onLeave}>{t.review.leaveGo}</Button>
        </>
      }
    />
  )
}
