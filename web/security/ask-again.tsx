/** Asks for the second factor again, in a dialog over the present screen. Loaded on demand. */
import { createRoot } from 'react-dom/client'
import { reauthenticate } from '../../contract/second-factor.ts'
import { call } from '../api.ts'
import { loadTexts, useTexts } from '../i18n/index.ts'
import { session, subscribe } from '../session.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { CodeForm } from './CodeForm.tsx'

function AskAgain({ onDone }: { onDone: (proven: boolean) => void }) {
  const t = useTexts('security')
  return (
    <Dialog
      open
      onClose={() => onDone(false)}
      title={t.security.againTitle}
      description={t.security.againText}
      closeLabel={t.common.close}
      footer={
        <Button variant="ghost" onClick={() => onDone(false)}>
          {t.common.cancel}
        </Button>
      }
    >
      <CodeForm
        submitLabel={t.security.confirm}
        submit={async (code) => {
          await call(reauthenticate, { body: { code } })
          onDone(true)
        }}
        byPasskey={async () => {
          const { signWithPasskey } = await import('./passkey.ts')
          await call(reauthenticate, { body: await signWithPasskey() })
          onDone(true)
        }}
      />
    </Dialog>
  )
}

let asking: Promise<boolean> | undefined
/** True: the factor was proven; false: the customer declined. Concurrent calls share one dialog. */
export function askAgain(): Promise<boolean> {
  return (asking ??= ask().finally(() => (asking = undefined)))
}
async function ask(): Promise<boolean> {
  await loadTexts('security')
  const place = document.body.appendChild(document.createElement('div'))
  const root = createRoot(place)
  let forget = () => {}
  const proven = await new Promise<boolean>((resolve) => {
    // The question is dropped when the session is locked or ends.
    forget = subscribe(() => {
      if (session.locked() || !session.signedIn()) resolve(false)
    })
    root.render(<AskAgain onDone={resolve} />)
  })
  forget()
  root.unmount()
  place.remove()
  return proven
}
