import { useState } from 'react'
import { secondFactor } from '../../contract/second-factor.ts'
import type { SignedIn } from '../../contract/session.ts'
import { call } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { CodeForm } from './CodeForm.tsx'

interface SignInStepProps {
  challenge: string
  remember: boolean
  enter: (signedIn: SignedIn) => Promise<void>
  onBack: () => void
}

/** The sign-in step after the password, for customers with a second factor. */
export default function SignInStep({ challenge, remember, enter, onBack }: SignInStepProps) {
  const t = useTexts('security')
  const [trust, setTrust] = useState(false)
  return (
    <>
      <CodeForm
        submitLabel={t.security.signIn}
        submit={async (code) =>
          await enter(await call(secondFactor, { body: { challenge, code, trust } }))
        }
        byPasskey={async () => {
          const { signInByPasskey } = await import('./sign-in-by-passkey.ts')
          await enter(await signInByPasskey(remember))
        }}
      >
        <Checkbox
          label={t.security.trust}
          hint={t.security.trustHint}
          checked={trust}
          onChange={setTrust}
        />
      </CodeForm>
      <div className="mt-2 text-center">
        <Button variant="ghost" onClick={onBack}>
          {t.security.backToPassword}
        </Button>
      </div>
    </>
  )
}
