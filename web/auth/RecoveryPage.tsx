import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { recover, reset } from '../../contract/registration.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { onward } from '../session.ts'
import { Button } from '../ui/Button.tsx'
import { CodeInput } from '../ui/CodeInput.tsx'
import { Field, Input, PasswordInput } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { authLink, AuthLayout } from './AuthLayout.tsx'
import { noteCodeSent, secondsUntilResend, useResendTimer } from './resend.ts'

/**
 * Two steps: ask for a code, then set the new password with it. The address says which, because a
 * phone reloads the page while its user reads the mail.
 */
export default function RecoveryPage() {
  const t = useTexts('auth')
  const navigate = useNavigate()
  const { email = '', next, step } = useSearch({ strict: false })
  const sentTo = step === 'code' && email !== '' ? email : undefined
  const onSent = (to: string) => {
    noteCodeSent(to)
    void navigate({ to: '.', search: { email: to, step: 'code', ...onward(next) } })
  }
  return (
    <AuthLayout
      title={t.auth.recoverTitle}
      sub={sentTo === undefined ? t.auth.recoverSub : t.auth.resetSub(sentTo)}
      footer={
        <Link to="/login" search={onward(next)} className={authLink}>
          {t.auth.backToLogin}
        </Link>
      }
    >
      {sentTo === undefined ? (
        <AskForm email={email} onSent={onSent} />
      ) : (
        <ResetForm key={sentTo} email={sentTo} next={next} />
      )}
    </AuthLayout>
  )
}

function AskForm({ email, onSent }: { email: string; onSent: (email: string) => void }) {
  const t = useTexts('auth')
  const { form, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { email },
    schema: recover.body,
    submit: async (body) => {
      await call(recover, { body })
      toast.success(t.toast.success, t.auth.resendEmail)
      onSent(body.email)
    },
  })
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-5">
      {failure ? (
        <Note tone="danger" role="alert">
          {failure.message}
        </Note>
      ) : null}
      <Field label={t.auth.email} error={errors['email']}>
        {(control) => (
          <Input
            {...control}
            {...bind('email')}
            type="email"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
      </Field>
      <Button type="submit" size="lg" busy={busy}>
        {t.auth.recoverSubmit}
      </Button>
    </form>
  )
}

function ResetForm({ email, next }: { email: string; next: string | undefined }) {
  const t = useTexts('auth')
  const navigate = useNavigate()
  const timer = useResendTimer(secondsUntilResend(email))
  const { form, values, errors, failure, busy, set, bind, focusOn, onSubmit } = useForm({
    initial: { email, code: '', password: '' },
    schema: reset.body,
    submit: async (body) => {
      await call(reset, { body })
      toast.success(t.toast.success, t.auth.resetDone)
      await navigate({ to: '/login', search: onward(next) })
    },
  })
  // Moves the focus to the field that is asked for.
  useEffect(() => form.current?.querySelector<HTMLElement>('[name=code]')?.focus(), [form])
  /** A disabled button cannot keep the focus, so the focus moves to the code field. */
  const wait = (seconds?: number) => {
    noteCodeSent(email, seconds)
    timer.restart(seconds)
    focusOn('[name=code]')
  }
  const resend = async () => {
    try {
      await call(recover, { body: { email } })
      toast.success(t.toast.success, t.auth.resendEmail)
      wait()
    } catch (error) {
      if (error instanceof ApiError && error.code === 'rate_limited') wait(error.retryAfter)
      toast.error(t.toast.error, messageOf(error))
    }
  }
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-5">
      {failure ? (
        <Note tone="danger" role="alert">
          {failure.message}
        </Note>
      ) : null}
      {/* Tells password managers whose password this is. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <Field label={t.auth.otp} error={errors['code']}>
        {(control) => (
          <CodeInput control={control} value={values.code} onChange={(code) => set('code', code)} />
        )}
      </Field>
      <Field
        label={t.auth.newPassword}
        error={errors['password']}
        hint={errors['password'] ? undefined : t.auth.passwordHint}
      >
        {(control) => (
          <PasswordInput
            {...control}
            {...bind('password')}
            autoComplete="new-password"
            showLabel={t.common.showPassword}
          />
        )}
      </Field>
      <Button type="submit" size="lg" busy={busy}>
        {t.auth.resetSubmit}
      </Button>
      <Button
        variant="ghost"
        disabled={timer.seconds > 0}
        onClick={() => void resend()}
        className="num"
      >
        {timer.seconds > 0 ? t.auth.resendIn(timer.seconds) : t.auth.resend}
      </Button>
    </form>
  )
}
