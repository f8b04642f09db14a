import type { ReactNode } from 'react'
import { staffSignIn, type StaffSession } from '../../contract/operator.ts'
import { brand } from '../brand.ts'
import { Button } from '../ui/Button.tsx'
import { CodeInput } from '../ui/CodeInput.tsx'
import { Field, Input, PasswordInput } from '../ui/Field.tsx'
import { Logo } from '../ui/Logo.tsx'
import { Note } from '../ui/State.tsx'
import { call, holdCsrf } from './api.ts'
import { DeskMenus } from './DeskMenus.tsx'
import { useDeskTexts } from './language.ts'
import { useDeskForm } from './use-form.ts'

/** A single form on a page before sign-in. */
export function LoneForm({
  title,
  sub,
  children,
}: {
  title: string
  sub: string
  children: ReactNode
}) {
  const t = useDeskTexts()
  return (
    <div className="min-h-dvh">
      <header className="bg-[#0f1838] text-white">
        <div className="mx-auto flex h-14 max-w-[1244px] items-center gap-3 px-4 sm:px-8">
          <Logo />
          <span className="truncate font-semibold max-sm:sr-only">{brand}</span>
          <span className="rounded-full bg-white/15 px-2.5 py-1 text-xs font-medium">{t.mark}</span>
          <DeskMenus />
        </div>
      </header>
      <main className="mx-auto max-w-md px-4 py-10">
        <div className="card p-6">
          <h1 tabIndex={-1} className="text-2xl font-semibold tracking-[-.02em]">
            {title}
          </h1>
          <p className="mt-1 mb-6 text-sm text-ink-2">{sub}</p>
          {children}
        </div>
      </main>
    </div>
  )
}

export function SignInView({
  hasEnded,
  onEnter,
}: {
  hasEnded: boolean
  onEnter: (session: StaffSession) => void
}) {
  const t = useDeskTexts()
  const form = useDeskForm({
    initial: { email: '', password: '', code: '' },
    schema: staffSignIn.body,
    body: (values) => ({ body: values }),
    submit: async (body) => {
      try {
        const session = await call(staffSignIn, { body })
        holdCsrf(session.csrfToken)
        onEnter(session)
      } catch (error) {
        // A code is valid for one attempt only, even a failed one.
        form.set('code', '')
        throw error
      }
    },
  })
  return (
    <LoneForm title={t.signIn.title} sub={t.signIn.sub}>
      <form noValidate onSubmit={(event) => void form.onSubmit(event)} className="grid gap-4">
        {hasEnded ? (
          <Note tone="info" role="alert">
            {t.signIn.ended}
          </Note>
        ) : null}
        {form.failure ? (
          <Note tone="danger" role="alert">
            {form.failure}
          </Note>
        ) : null}
        <Field label={t.signIn.email} error={form.errors['email']}>
          {(control) => (
            <Input
              {...control}
              {...form.bind('email')}
              type="email"
              autoComplete="username"
              autoCapitalize="none"
            />
          )}
        </Field>
        <Field label={t.signIn.password} error={form.errors['password']}>
          {(control) => (
            <PasswordInput
              {...control}
              {...form.bind('password')}
              autoComplete="current-password"
              showLabel={t.signIn.show}
            />
          )}
        </Field>
        <Field label={t.signIn.code} hint={t.signIn.codeHint} error={form.errors['code']}>
          {(control) => (
            <CodeInput
              control={control}
              value={form.values['code'] ?? ''}
              onChange={(digits) => form.set('code', digits)}
            />
          )}
        </Field>
        <Button type="submit" size="lg" busy={form.busy}>
          {t.signIn.submit}
        </Button>
      </form>
    </LoneForm>
  )
}
