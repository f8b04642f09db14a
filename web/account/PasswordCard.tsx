import { useQueryClient } from '@tanstack/react-query'
import { changePassword } from '../../contract/account.ts'
import { call } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, PasswordInput } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { FormFailure } from './FormFailure.tsx'
import { sessionsQuery } from './queries.ts'

export function PasswordCard({ email }: { email: string }) {
  const t = useTexts('account')
  const queryClient = useQueryClient()
  const { form, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial: { current: '', password: '' },
    schema: changePassword.body,
    submit: async (body) => {
      await call(changePassword, { body })
      set('current', '')
      set('password', '')
      void queryClient.invalidateQueries(sessionsQuery)
      toast.success(t.toast.success, t.account.passwordChanged)
    },
  })
  return (
    <Card title={t.account.password} sub={t.account.passwordSub}>
      <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-4">
        <FormFailure failure={failure} />
        {/* Tells password managers whose password this is. */}
        <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
        <Field label={t.account.current} error={errors['current']}>
          {(control) => (
            <PasswordInput
              {...control}
              {...bind('current')}
              autoComplete="current-password"
              showLabel={t.common.showPassword}
            />
          )}
        </Field>
        <Field
          label={t.account.newPassword}
          error={errors['password']}
          hint={t.account.passwordHint}
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
        <Button type="submit" busy={busy} className="justify-self-start">
          {t.account.changePassword}
        </Button>
      </form>
    </Card>
  )
}
