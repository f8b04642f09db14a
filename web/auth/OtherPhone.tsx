import { useEffect, useState } from 'react'
import { correctPhone } from '../../contract/registration.ts'
import { call } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Field, Input, PasswordInput } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { FailureNote } from './FailureNote.tsx'

/**
 * For a customer who mistyped the phone number at registration: with the password and the correct
 * number, the code is sent there.
 */
export function OtherPhone({ email, onSent }: { email: string; onSent: () => void }) {
  const t = useTexts('auth')
  const [open, setOpen] = useState(false)
  const { form, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { phone: '', password: '' },
    schema: correctPhone.body,
    body: (values) => ({ ...values, email }),
    submit: async (body) => {
      await call(correctPhone, { body })
      toast.success(t.toast.success, t.auth.otpSent)
      setOpen(false)
      onSent()
    },
  })

  useEffect(() => {
    if (open) form.current?.querySelector('input')?.focus()
  }, [open, form])

  const toggle = (
    <Button
      variant="ghost"
      className="mt-2 w-full"
      aria-expanded={open}
      onClick={() => setOpen(!open)}
    >
      {t.auth.otherPhone}
    </Button>
  )
  if (!open) return toggle
  return (
    <>
      {toggle}
      <form
        ref={form}
        noValidate
        onSubmit={(event) => void onSubmit(event)}
        className="mt-4 grid gap-5 border-t border-border pt-5"
      >
        <p className="text-sm text-ink-2">{t.auth.otherPhoneNote}</p>
        <FailureNote failure={failure} />
        <Field
          label={t.auth.phone}
          error={errors['phone'] ?? (failure?.code === 'phone_taken' ? failure.message : undefined)}
        >
          {(control) => <Input {...control} {...bind('phone')} type="tel" autoComplete="tel" />}
        </Field>
        <Field label={t.auth.password} error={errors['password']}>
          {(control) => (
            <PasswordInput
              {...control}
              {...bind('password')}
              autoComplete="current-password"
              showLabel={t.common.showPassword}
            />
          )}
        </Field>
        <Button type="submit" variant="soft" size="lg" busy={busy}>
          {t.auth.otherPhoneSubmit}
        </Button>
      </form>
    </>
  )
}
