import { newRecoveryCodes } from '../../contract/second-factor.ts'
import { call } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ConfirmButton } from './ConfirmButton.tsx'

interface CodesCardProps {
  left: number
  onCodes: (codes: string[]) => void
}

export function CodesCard({ left, onCodes }: CodesCardProps) {
  const t = useTexts('security')
  return (
    <Card title={t.security.codes} sub={t.security.codesSub}>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-sm">{t.security.codesLeft(left)}</p>
        <ConfirmButton
          label={t.security.newCodes}
          title={t.security.newCodesTitle}
          text={t.security.newCodesText}
          act={() => call(newRecoveryCodes, {})}
          onDone={({ recoveryCodes }) => onCodes(recoveryCodes)}
        />
      </div>
    </Card>
  )
}

/** Shows recovery codes once: they cannot be read again. */
export function CodesDialog({
  codes,
  onClose,
}: {
  codes: string[] | undefined
  onClose: () => void
}) {
  const t = useTexts('security')
  return (
    <Dialog
      open={codes !== undefined}
      onClose={onClose}
      title={t.security.codesTitle}
      description={t.security.codesText}
      closeLabel={t.common.close}
      footer={<Button onClick={onClose}>{t.security.codesKept}</Button>}
    >
      <div className="flex items-start justify-between gap-3 rounded-lg bg-subtle p-4">
        <ul className="grid grid-cols-2 gap-x-6 gap-y-1.5 font-mono text-sm">
          {codes?.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <CopyButton
          text={codes?.join('\n') ?? ''}
          label={t.common.copyOf(t.security.codesCopy)}
          doneLabel={t.common.copied}
        />
      </div>
    </Dialog>
  )
}
