import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { KeyRound } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { login, type SignedIn } from '../../contract/session.ts'
import { ApiError, call } from '../api.ts'
import { draftsWait } from '../drafts.ts'
import { useForm } from '../form.ts'
import { loadTexts, useTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { passkeysWork } from '../security/passkeys-work.ts'
import { onward, returnPath, session } from '../session.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Field, Input, PasswordInput } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { authLink, AuthLayout } from './AuthLayout.tsx'
import { FailureNote } from './FailureNote.tsx'
import { activatedEmail } from './activated.ts'
import { enter } from './sign-in.ts'

const route = getRouteApi('/login')

/** Loaded on demand: only customers with a second factor need it. */
const SignInStep = lazy(() => loadWanted(() => import('../security/SignInStep.tsx')))

export default function LoginPage() {
  const t = useTexts('auth')
  const router = useRouter()
  const queryClient = useQueryClient()
  const { next } = route.useSearch()
  const [kept] = useState(draftsWait)
  const [challenge, setChallenge] = useState<string>()
  const [ended] = useState(() => (session.signedIn() ? null : session.ended()))

  const goOn = async (signedIn: SignedIn) => {
    await enter(queryClient, signedIn)
    router.history.push(returnPath(next))
  }
  const [waiting, setWaiting] = useState(false)
  const byPasskey = async () => {
    setWaiting(true)
    try {
      const { signInByPasskey } = await import('../security/sign-in-by-passkey.ts')
      await goOn(await signInByPasskey(values.remember))
    } catch (error) {
      toast.error(
        t.toast.error,
        error instanceof ApiError ? error.message : t.auth.passkeyCancelled,
      )
    } finally {
      setWaiting(false)
    }
  }
  const { form, values, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial: { email: ended ?? activatedEmail(), password: '', remember: false },
    schema: login.body,
    submit: async (body) => {
      try {
        await goOn(await call(login, { body }))
      } catch (error) {
        if (error instanceof ApiError && error.challenge !== undefined) {
          await loadTexts('security')
          setChallenge(error.challenge)
          return
        }
        if (error instanceof ApiError && error.code === 'account_inactive') {
          toast.error(t.toast.error, error.message)
          await router.navigate({
            to: '/check-otp',
            search: { email: body.email, ...onward(next) },
          })
          return
        }
        // A rate limit is shown in the form, where it stays; other failures are shown once as a
        // toast.
        if (error instanceof ApiError && error.code !== 'rate_limited')
          toast.error(t.toast.error, error.message)
        throw error
      }
    },
  })

  if (challenge !== undefined)
    return (
      <AuthLayout title={t.auth.loginTitle}>
        <Suspense fallback={null}>
          <SignInStep
            challenge={challenge}
            remember={values.remember}
            enter={goOn}
            onBack={() => setChallenge(undefined)}
          />
        </Suspense>
      </AuthLayout>
    )
  return (
    <AuthLayout
      title={t.auth.loginTitle}
      sub={t.auth.loginSub}
      footer={
        <>
          {t.auth.noAccount}{' '}
          <Link to="/register" search={onward(next)} className={authLink}>
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
              search={{ ...(values.email && { email: values.email }), ...onward(next) }}
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
        <Checkbox
          label={t.auth.remember}
          hint={t.auth.rememberHint}
          checked={values.remember}
          onChange={(remember) => set('remember', remember)}
        />
        <Button type="submit" size="lg" busy={busy}>
          {t.auth.login}
        </Button>
        {passkeysWork() ? (
          <Button variant="outline" size="lg" busy={waiting} onClick={() => void byPasskey()}>
            <KeyRound aria-hidden className="size-4" />
            {t.auth.passkey}
          </Button>
        ) : null}
      </form>
    </AuthLayout>
  )
}
