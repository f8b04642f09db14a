import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { LockKeyhole } from 'lucide-react'
import { useEffect } from 'react'
import { unlock } from '../../contract/lock.ts'
import { ApiError, call } from '../api.ts'
import { brand } from '../brand.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { heldSession } from '../resume.ts'
import { session } from '../session.ts'
import { tellTabs } from '../tabs.ts'
import { Button } from '../ui/Button.tsx'
import { Field, PasswordInput } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { LegalLinks } from './LegalLinks.tsx'
import { tellLock } from './lock.ts'
import { signOut } from './sign-out.ts'

/** Continues with the shared session of this browser if another tab has unlocked it. */
async function follow(onUnlocked: () => void): Promise<void> {
  const found = await heldSession()
  if (!found || found.locked || found.id !== session.held()?.id) return
  session.hold(found)
  onUnlocked()
}

/** Replaces the whole portal while it is locked: nothing of it stays in the document. */
export default function LockView({ onUnlocked }: { onUnlocked: () => void }) {
  const t = useTexts('auth')
  const router = useRouter()
  const queryClient = useQueryClient()
  const user = session.user()
  // Tells the server here, so that it happens however the lock was caused, and again after a
  // reload.
  useEffect(() => void tellLock(), [])
  // Another tab may have unlocked the session while this tab was asleep and received no message.
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') void follow(onUnlocked)
    }
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [onUnlocked])
  const { form, errors, busy, bind, onSubmit } = useForm({
    initial: { password: '' },
    schema: unlock.body,
    submit: async (body) => {
      try {
        const unlocked = await call(unlock, { body })
        session.unlock(unlocked.token.accessToken, unlocked.session)
        tellTabs('unlocked', unlocked.session)
        onUnlocked()
      } catch (error) {
        toast.error(
          t.toast.error,
          error instanceof ApiError && error.code !== 'bad_credentials'
            ? error.message
            : t.lock.failed,
        )
        throw error
      }
    },
  })
  const leave = () => void signOut(queryClient, () => router.navigate({ to: '/login' }))

  return (
    <main className="grid min-h-dvh place-content-center justify-items-center p-5">
      <title>{`${t.lock.title} · ${brand}`}</title>
      <div className="card w-[min(90vw,400px)] p-7">
        <span
          aria-hidden
          className="grid size-11 place-items-center rounded-full bg-primary-soft text-primary-ink"
        >
          <LockKeyhole className="size-5" strokeWidth={1.75} />
        </span>
        <h1 tabIndex={-1} className="mt-4 text-xl font-semibold">
          {t.lock.title}
        </h1>
        <p className="mt-1 text-sm text-ink-2">{t.lock.text}</p>
        {user ? (
          <p className="mt-4 truncate rounded-md bg-subtle px-3 py-2 text-sm font-medium">
            {user.email}
          </p>
        ) : null}
        <form
          ref={form}
          noValidate
          onSubmit={(event) => void onSubmit(event)}
          className="mt-4 grid gap-4"
        >
          <input
            type="text"
            name="username"
            autoComplete="username"
            value={user?.email ?? ''}
            readOnly
            hidden
          />
          <Field label={t.auth.password} error={errors['password']}>
            {(control) => (
              <PasswordInput
                {...control}
                {...bind('password')}
                autoComplete="current-password"
                showLabel={t.common.showPassword}
                // oxlint-disable-next-line jsx-a11y/no-autofocus
                autoFocus
              />
            )}
          </Field>
          <Button type="submit" size="lg" busy={busy}>
            {t.lock.unlock}
          </Button>
          <Button variant="ghost" onClick={leave}>
            {t.lock.other}
          </Button>
        </form>
      </div>
      <LegalLinks className="mt-6 justify-center" />
    </main>
  )
}
