import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { useDeskTexts } from './language.ts'

/** Shows a signing secret once: it cannot be read again. */
export function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  const t = useDeskTexts()
  const words = t.outgoing.secret
  return (
    <Dialog
      open
      onClose={onClose}
      title={words.title}
      description={words.text}
      closeLabel={t.close}
      footer={<Button onClick={onClose}>{words.kept}</Button>}
    >
      <div className="flex items-start justify-between gap-3 rounded-lg bg-subtle p-4">
        <code className="font-mono text-sm wrap-anywhere">{secret}</code>
        <CopyButton text={secret} label={words.copy} doneLabel={words.copied} />
      </div>
    </Dialog>
  )
}
