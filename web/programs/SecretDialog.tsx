import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Dialog } from '../ui/Dialog.tsx'

interface SecretDialogProps {
  secret: string | undefined
  title: string
  text: string
  what: string
  onClose: () => void
}

/** Shows a secret once: it cannot be read again. */
export function SecretDialog({ secret, title, text, what, onClose }: SecretDialogProps) {
  const t = useTexts('programs')
  return (
    <Dialog
      open={secret !== undefined}
      onClose={onClose}
      title={title}
      description={text}
      closeLabel={t.common.close}
      footer={<Button onClick={onClose}>{t.programs.kept}</Button>}
    >
      <div className="flex items-start justify-between gap-3 rounded-lg bg-subtle p-4">
        <code className="font-mono text-sm wrap-anywhere">{secret}</code>
        <CopyButton text={secret ?? ''} label={t.common.copyOf(what)} doneLabel={t.common.copied} />
      </div>
    </Dialog>
  )
}
