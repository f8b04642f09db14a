import { useQueryClient } from '@tanstack/react-query'
import * as z from 'zod/mini'
import {
  addPasskey,
  beginPasskey,
  removePasskey,
  type Passkey,
} from '../../contract/second-factor.ts'
import { oneLine } from '../../contract/text.ts'
import { FormFailure } from '../account/FormFailure.tsx'
import { ApiError, call } from '../api.ts'
import { useForm } from '../form.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { useMe } from '../queries.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input, PasswordInput } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { ConfirmButton } from './ConfirmButton.tsx'
import { securityQuery } from './queries.ts'

interface PasskeysCardProps {
  passkeys: Passkey[]
  origin: string | null
  onCodes: (codes: string[] | null) => void
}

export function PasskeysCard({ passkeys, origin, onCodes }: PasskeysCardProps) {
  const t = useTexts('security')
  return (
    <Card title={t.security.passkeys} sub={t.security.passkeysSub}>
      <div className="grid gap-5">
        {passkeys.length === 0 ? (
          <p className="text-sm text-ink-2">{t.security.noPasskeys}</p>
        ) : (
          <ul className="grid gap-3">
            {passkeys.map((passkey) => (
              <li key={passkey.id} className="flex items-center justify-between gap-3">
                <div className="min-w-0">
                  <p className="text-sm font-medium wrap-anywhere">{passkey.name}</p>
                  <p className="num text-xs text-ink-3">
                    {t.security.lastUsed}:{' '}
                    {passkey.lastUsedAt === null
                      ? t.security.neverUsed
                      : formatTime(passkey.lastUsedAt)}
                  </p>
                </div>
                <ConfirmButton
                  label={t.security.remove}
                  fullLabel={t.security.removeOf(passkey.name)}
                  title={t.security.removePasskeyTitle}
                  text={t.security.removePasskeyText(passkey.name)}
                  danger
                  act={() => call(removePasskey, { params: { id: passkey.id } })}
                  done={t.security.passkeyRemoved}
                />
              </li>
            ))}
          </ul>
        )}
        {origin === null ? (
          <Note tone="info">{t.security.passkeysNowhere}</Note>
        ) : (
          <AddForm onCodes={onCodes} />
        )}
      </div>
    </Card>
  )
}

const schema = z.strictObject({
  name: oneLine(1, 60),
  password: z.string().check(z.minLength(1), z.maxLength(128)),
})

function AddForm({ onCodes }: Pick<PasskeysCardProps, 'onCodes'>) {
  const t = useTexts('security')
  const { email } = useMe()
  const queryClient = useQueryClient()
  const { form, errors, failure, busy, set, bind, onSubmit } = useForm({
    initial: { name: '', password: '' },
    keep: ['name'],
    schema,
    submit: async ({ name, password }) => {
      const begun = await call(beginPasskey, { body: { password } })
      const { makePasskey } = await import('./passkey.ts')
      try {
        const made = await makePasskey(begun)
        const { recoveryCodes } = await call(addPasskey, { body: { ...made, name } })
        set('name', '')
        set('password', '')
        toast.success(t.toast.success, t.security.passkeyAdded)
        await queryClient.invalidateQueries(securityQuery)
        onCodes(recoveryCodes)
      } catch (error) {
        if (error instanceof ApiError) throw error
        toast.error(t.toast.error, t.security.passkeyCancelled)
      }
    },
  })
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-4">
      <FormFailure failure={failure} />
      <Field
        label={t.security.passkeyName}
        error={errors['name']}
        hint={t.security.passkeyNameHint}
      >
        {(control) => <Input {...control} {...bind('name')} autoComplete="off" />}
      </Field>
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <Field label={t.security.password} error={errors['password']}>
        {(control) => (
          <PasswordInput
            {...control}
            {...bind('password')}
            autoComplete="current-password"
            showLabel={t.common.showPassword}
          />
        )}
      </Field>
      <Button type="submit" busy={busy} className="justify-self-start">
        {t.security.addPasskey}
      </Button>
    </form>
  )
}
