import { useQueryClient } from '@tanstack/react-query'
import { changeMember, type Member } from '../../contract/team.ts'
import { FormFailure } from '../account/FormFailure.tsx'
import { call } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { useMe } from '../queries.ts'
import { Button } from '../ui/Button.tsx'
import { Field, PasswordInput } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { teamQuery } from './queries.ts'
import { RightsFields, rightsBody, type Rights } from './RightsFields.tsx'
import { useTeamTexts } from './texts.ts'

interface Values extends Rights {
  password: string
}

/** A form for a member's new rights. */
export default function ChangeForm({ member, onDone }: { member: Member; onDone: () => void }) {
  const t = useTeamTexts()
  const { common, toast: toasts } = useTexts()
  const { email } = useMe()
  const queryClient = useQueryClient()
  const initial: Values = {
    role: member.role,
    onlyServers: member.servers,
    onlyDomains: member.domains,
    password: '',
  }
  const { form, values, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial,
    schema: changeMember.body,
    body: (now: Values) => ({ ...rightsBody(now), password: now.password }),
    submit: async (body) => {
      await call(changeMember, { params: { id: member.id }, body })
      await queryClient.invalidateQueries(teamQuery)
      toast.success(toasts.success, t.changed)
      onDone()
    },
  })
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => void onSubmit(event)}
      className="grid gap-5 border-t border-border p-5"
      aria-label={t.changeTitle(member.name)}
    >
      <FormFailure failure={failure} />
      <RightsFields
        values={values}
        errors={errors}
        onRole={(role) => set('role', role)}
        onServers={(ids) => set('onlyServers', ids)}
        onDomains={(ids) => set('onlyDomains', ids)}
      />
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
          {t.save}
        </Button>
        <Button variant="ghost" onClick={onDone}>
          {t.cancel}
        </Button>
      </div>
    </form>
  )
}
