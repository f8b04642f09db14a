import { lazy, Suspense, useState } from 'react'
import { beginTotp, removeTotp } from '../../contract/second-factor.ts'
import { call } from '../api.ts'
import { FormFailure } from '../account/FormFailure.tsx'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { useMe } from '../queries.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, PasswordInput } from '../ui/Field.tsx'
import { Skeleton } from '../ui/State.tsx'
import type { Begun } from './AppSetUp.tsx'
import { ConfirmButton } from './ConfirmButton.tsx'

interface AppCardProps {
  on: boolean
  onCodes: (codes: string[] | null) => void
}

/** Loaded on demand: it draws a QR code, which is rarely needed. */
const AppSetUp = lazy(() => loadWanted(() => import('./AppSetUp.tsx')))

/** The authenticator app: off, being set up, or on. */
export function AppCard({ on, onCodes }: AppCardProps) {
  const t = useTexts('security')
  const [begun, setBegun] = useState<Begun>()
  return (
    <Card
      title={t.security.app}
      sub={t.security.appSub}
      action={
        <Badge tone={on ? 'success' : 'neutral'} dot>
          {on ? t.security.on : t.security.off}
        </Badge>
      }
    >
      {on ? (
        <ConfirmButton
          label={t.security.turnOff}
          fullLabel={`${t.security.turnOff}: ${t.security.app}`}
          title={t.security.turnOffTitle}
          text={t.security.turnOffText}
          danger
          act={() => call(removeTotp, {})}
          done={t.security.appOff}
        />
      ) : null}
      {!on && !begun ? <BeginForm onBegun={setBegun} /> : null}
      {!on && begun ? (
        <Suspense fallback={<Skeleton className="h-80" />}>
          <AppSetUp
            begun={begun}
            onDone={(codes) => {
              setBegun(undefined)
              onCodes(codes)
            }}
          />
        </Suspense>
      ) : null}
    </Card>
  )
}

function BeginForm({ onBegun }: { onBegun: (begun: Begun) => void }) {
  const t = useTexts('security')
  const { email } = useMe()
  const { form, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { password: '' },
    schema: beginTotp.body,
    submit: async (body) => onBegun(await call(beginTotp, { body })),
  })
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-4">
      <FormFailure failure={failure} />
      {/* Tells password managers whose password this is. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <Field label={t.security.password} error={errors['password']}>
        {(control) => (
          <PasswordInput
            {...control}
            {...bind('password')}
            autoComplete="current-password"
            showLabel={t.common.showPassword}
          />
        )}
      </Field>
      <Button type="submit" busy={busy} className="justify-self-start">
        {t.security.setUp}
      </Button>
    </form>
  )
}
