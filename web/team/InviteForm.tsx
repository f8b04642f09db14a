import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { invite } from '../../contract/team.ts'
import { FormFailure } from '../account/FormFailure.tsx'
import { call } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { useMe } from '../queries.ts'
import { Button } from '../ui/Button.tsx'
import { Field, Input, PasswordInput } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { teamQuery } from './queries.ts'
import { RightsFields, rightsBody, type Rights } from './RightsFields.tsx'
import { useTeamTexts } from './texts.ts'

interface Values extends Rights {
  email: string
  password: string
}
const initial: Values = {
  email: '',
  role: 'technical',
  onlyServers: null,
  onlyDomains: null,
  password: '',
}

export default function InviteForm({ onDone }: { onDone: () => void }) {
  const t = useTeamTexts()
  const { common, toast: toasts } = useTexts()
  const { email } = useMe()
  const queryClient = useQueryClient()
  const { form, values, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial,
    keep: ['email', 'role', 'onlyServers', 'onlyDomains'],
    schema: invite.body,
    body: (now: Values) => ({ email: now.email, ...rightsBody(now), password: now.password }),
    submit: async (body) => {
      await call(invite, { body })
      await queryClient.invalidateQueries(teamQuery)
      toast.success(toasts.success, t.sent)
      onDone()
    },
  })
  useEffect(() => form.current?.querySelector('input')?.focus(), [form])
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-5">
      <FormFailure failure={failure} />
      <Field label={t.email} error={errors['email']} hint={t.emailHint}>
        {(control) => (
          <Input {...control} {...bind('email')} type="email" autoComplete="off" maxLength={254} />
        )}
      </Field>
      <RightsFields
        values={values}
        errors={errors}
        onRole={(role) => set('role', role)}
        onServers={(ids) => set('onlyServers', ids)}
        onDomains={(ids) => set('onlyDomains', ids)}
      />
      {/* Tells password managers whose password this is. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <Field label={t.password} error={errors['password']}>
        {(control) => (
          <PasswordInput
            {...control}
            {...bind('password')}
            autoComplete="current-password"
            showLabel={common.showPassword}
          />
        )}
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" busy={busy}>
          {t.send}
        </Button>
        <Button variant="ghost" onClick={onDone}>
          {t.cancel}
        </Button>
      </div>
    </form>
  )
}
