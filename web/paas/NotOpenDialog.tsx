import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'

/** Says that a git host cannot be connected yet. `host` undefined: the dialog is closed. */
export function NotOpenDialog({
  host,
  onClose,
}: {
  host: string | undefined
  onClose: () => void
}) {
  const t = useTexts('paas')
  return (
    <Dialog
      open={host !== undefined}
      onClose={onClose}
      title={t.paas.later.title}
      description={t.paas.later.text(host ?? '')}
      closeLabel={t.common.close}
      footer={<Button onClick={onClose}>{t.common.close}</Button>}
    />
  )
}
