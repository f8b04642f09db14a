import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { login } from '../../contract/auth.ts'
import { ApiError, call } from '../api.ts'
import { draftsWait } from '../drafts.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { returnPath, session } from '../session.ts'
import { Button } from '../ui/Button.tsx'
import { Field, Input, PasswordInput } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { authLink, AuthLayout } from './AuthLayout.tsx'
import { FailureNote } from './FailureNote.tsx'
import { enter } from './sign-in.ts'

const route = getRouteApi('/login')

export default function LoginPage() {
  const t = useTexts('auth')
  const router = useRouter()
  const queryClient = useQueryClient()
  const { next } = route.useSearch()
  const [kept] = useState(draftsWait)
  const [ended] = useState(() => (session.signedIn() ? null : session.ended()))

  const { form, values, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { email: ended ?? '', password: '' },
    schema: login.body,
    submit: async (body) => {
      try {
        const { token } = await call(login, { body })
        await enter(queryClient, token.accessToken)
        router.history.push(returnPath(next))
      } catch (error) {
        if (error instanceof ApiError && error.code === 'account_inactive') {
          await router.navigate({ to: '/check-otp', search: { email: body.email } })
          return
        }
        // How long to wait is said where it stays; the rest is said once.
        if (error instanceof ApiError && error.code !== 'rate_limited')
          toast.error(t.toast.error, error.message)
        throw error
      }
    },
  })

  return (
    <AuthLayout
      title={t.auth.loginTitle}
      sub={t.auth.loginSub}
      footer={
        <>
          {t.auth.noAccount}{' '}
          <Link to="/register" className={authLink}>
            {t.auth.register}
          </Link>
        </>
      }
    >
      <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-5">
        {failure === undefined && (kept || ended !== null) ? (
          <Note tone="info">
            {t.auth.signedOut} {kept ? t.auth.draftsWait : null}
          </Note>
        ) : null}
        {failure?.code === 'rate_limited' ? <FailureNote failure={failure} /> : null}
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
        <Field
          label={t.auth.password}
          error={errors['password']}
          aside={
            <Link
              to="/auth/pass-recovery"
              search={values.email ? { email: values.email } : {}}
              className="font-medium text-primary-ink hover:underline"
            >
              {t.auth.forgot}
            </Link>
          }
        >
          {(control) => (
            <PasswordInput
              {...control}
              {...bind('password')}
              autoComplete="current-password"
              showLabel={t.common.showPassword}
            />
          )}
        </Field>
        <Button type="submit" size="lg" busy={busy}>
          {t.auth.login}
        </Button>
      </form>
    </AuthLayout>
  )
}
