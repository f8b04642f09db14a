import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { activate, sendCode } from '../../contract/registration.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { onward } from '../session.ts'
import { useSubmitSoon } from '../submit-soon.ts'
import { Button } from '../ui/Button.tsx'
import { CodeInput, hasWholeCode } from '../ui/CodeInput.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { authLink, AuthLayout } from './AuthLayout.tsx'
import { OtherPhone } from './OtherPhone.tsx'
import { noteActivated } from './activated.ts'
import { noteCodeSent, secondsUntilResend, useResendTimer } from './resend.ts'

const route = getRouteApi('/check-otp')

export default function CheckOtpPage() {
  const t = useTexts('auth')
  const navigate = useNavigate()
  const { email = '', next } = route.useSearch()
  const timer = useResendTimer(secondsUntilResend(email))
  const [sending, setSending] = useState(false)

  const { form, values, errors, failure, busy, set, bind, focusOn, onSubmit } = useForm({
    initial: { email, code: '' },
    schema: activate.body,
    submit: async (body) => {
      try {
        await call(activate, { body })
      } catch (error) {
        toast.error(t.toast.error, messageOf(error))
        throw error
      }
      toast.success(t.toast.success, t.auth.otpDone)
      noteActivated(body.email)
      await navigate({ to: '/login', search: onward(next) })
    },
  })

  const submitSoon = useSubmitSoon(form, hasWholeCode)

  // The code is all that the page is for.
  useEffect(() => form.current?.querySelector('input')?.focus(), [form])
  /** A disabled button cannot keep the focus, so the focus moves to the code field. */
  const wait = (seconds?: number) => {
    timer.restart(seconds)
    noteCodeSent(values.email, seconds)
    focusOn('[name=code]')
  }
  const resend = async () => {
    setSending(true)
    try {
      await call(sendCode, { body: { email: values.email } })
      toast.success(t.toast.success, t.auth.otpSent)
      wait()
    } catch (error) {
      if (error instanceof ApiError && error.code === 'rate_limited') wait(error.retryAfter)
      toast.error(t.toast.error, messageOf(error))
    } finally {
      setSending(false)
    }
  }

  return (
    <AuthLayout
      title={t.auth.otpTitle}
      sub={email ? t.auth.otpSub(email) : t.auth.otpNoEmail}
      footer={
        <Link to="/login" search={onward(next)} className={authLink}>
          {t.auth.backToLogin}
        </Link>
      }
    >
      <form
        ref={form}
        data-begin
        noValidate
        onSubmit={(event) => void onSubmit(event)}
        className="grid gap-5"
      >
        {failure ? (
          <Note tone="danger" role="alert">
            {failure.message}
          </Note>
        ) : null}
        {email ? null : (
          <Field label={t.auth.email} error={errors['email']}>
            {(control) => (
              <Input
                {...control}
                {...bind('email')}
                type="email"
                autoComplete="email"
                autoCapitalize="none"
                spellCheck={false}
              />
            )}
          </Field>
        )}
        <Field label={t.auth.otp} error={errors['code']}>
          {(control) => (
            <CodeInput
              control={control}
              value={values.code}
              onChange={(code) => set('code', code)}
              onComplete={submitSoon}
            />
          )}
        </Field>
        <Button type="submit" size="lg" busy={busy}>
          {t.auth.otpSubmit}
        </Button>
        <Button
          variant="ghost"
          busy={sending}
          disabled={timer.seconds > 0 || values.email === ''}
          onClick={() => void resend()}
          className="num"
        >
          {timer.seconds > 0 ? t.auth.resendIn(timer.seconds) : t.auth.resend}
        </Button>
      </form>
      {values.email ? <OtherPhone email={values.email} onSent={wait} /> : null}
    </AuthLayout>
  )
}
