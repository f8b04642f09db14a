import { KeyRound } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import * as z from 'zod/mini'
import { ApiError, messageOf } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { useSubmitSoon } from '../submit-soon.ts'
import { Button } from '../ui/Button.tsx'
import { CodeInput, hasWholeCode } from '../ui/CodeInput.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { passkeysWork } from './passkeys-work.ts'

const schema = z.strictObject({ code: z.string().check(z.trim(), z.minLength(6)) })

interface CodeFormProps {
  submitLabel: string
  submit: (code: string) => Promise<void>
  /** Signs with a passkey instead of a code. */
  byPasskey: () => Promise<void>
  /** Shown between the field and the button. */
  children?: ReactNode
}

/** A form for a code of the app, a recovery code, or a passkey. */
export function CodeForm({ submitLabel, submit, byPasskey, children }: CodeFormProps) {
  const t = useTexts('security')
  const [recovery, setRecovery] = useState(false)
  const [trouble, setTrouble] = useState<string>()
  const [waiting, setWaiting] = useState(false)
  const { form, values, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial: { code: '' },
    schema,
    submit: async ({ code }) => {
      setTrouble(undefined)
      await submit(code)
    },
  })
  const submitSoon = useSubmitSoon(form, hasWholeCode)
  // The keyboard goes on where the customer is asked.
  useEffect(() => form.current?.querySelector('input')?.focus(), [form, recovery])
  const passkey = async () => {
    setTrouble(undefined)
    setWaiting(true)
    try {
      await byPasskey()
    } catch (error) {
      setTrouble(error instanceof ApiError ? messageOf(error) : t.security.passkeyCancelled)
    } finally {
      setWaiting(false)
    }
  }
  const said = trouble ?? (failure ? failure.message : undefined)
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-5">
      <p className="text-sm text-ink-2">
        {recovery ? t.security.stepRecoverySub : t.security.stepSub}
      </p>
      {said === undefined ? null : (
        <Note tone="danger" role="alert">
          {said}
        </Note>
      )}
      <Field
        key={recovery ? 'recovery' : 'app'}
        label={recovery ? t.security.recovery : t.security.code}
        error={errors['code']}
      >
        {(control) =>
          recovery ? (
            <Input
              {...control}
              {...bind('code')}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              placeholder="xxxxx-xxxxx"
            />
          ) : (
            <CodeInput
              control={control}
              value={values.code}
              onChange={(code) => set('code', code)}
              onComplete={submitSoon}
            />
          )
        }
      </Field>
      {children}
      <Button type="submit" size="lg" busy={busy}>
        {submitLabel}
      </Button>
      <div className="flex flex-wrap justify-center gap-2">
        <Button
          variant="ghost"
          onClick={() => {
            set('code', '')
            setRecovery(!recovery)
          }}
        >
          {recovery ? t.security.useApp : t.security.useRecovery}
        </Button>
        {passkeysWork() ? (
          <Button variant="ghost" busy={waiting} onClick={() => void passkey()}>
            <KeyRound aria-hidden className="size-4" />
            {t.security.usePasskey}
          </Button>
        ) : null}
      </div>
    </form>
  )
}
