import { changeAccount, type Account } from '../../contract/account.ts'
import { call } from '../api.ts'
import { useForm } from '../form.ts'
import { formatDay } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { FormFailure } from './FormFailure.tsx'
import { useChanged } from './queries.ts'

export function ProfileCard({ account }: { account: Account }) {
  const t = useTexts('account')
  const changed = useChanged()
  const { form, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { name: account.name },
    keep: ['name'],
    follows: true,
    schema: changeAccount.body,
    submit: async (body) => {
      changed(await call(changeAccount, { body }))
      toast.success(t.toast.success, t.account.saved)
    },
  })
  return (
    <Card title={t.account.profile} sub={t.account.since(formatDay(account.createdAt))}>
      <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-4">
        <FormFailure failure={failure} />
        <Field label={t.account.name} error={errors['name']}>
          {(control) => (
            <Input {...control} {...bind('name')} autoComplete="name" maxLength={100} />
          )}
        </Field>
        <Button type="submit" busy={busy} className="justify-self-start">
          {t.account.save}
        </Button>
      </form>
    </Card>
  )
}
