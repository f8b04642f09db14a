import { useQuery } from '@tanstack/react-query'
import { acceptInvitation, openInvitation, type StaffSession } from '../../contract/operator.ts'
import { QrCode } from '../payments/QrCode.tsx'
import { Button } from '../ui/Button.tsx'
import { CodeInput } from '../ui/CodeInput.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Field, PasswordInput } from '../ui/Field.tsx'
import { Note, SkeletonRows } from '../ui/State.tsx'
import { call, holdCsrf } from './api.ts'
import { useDeskTexts } from './language.ts'
import { LoneForm } from './SignInView.tsx'
import { useDeskForm } from './use-form.ts'

interface Props {
  onEnter: (session: StaffSession) => void
}

/** The page of an invitation link. Its token stands after #, so no server logs it. */
export function InvitationView({ onEnter }: Props) {
  const t = useDeskTexts()
  const token = location.hash.slice(1)
  const { data, error } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call(openInvitation, { body: { token } }),
    enabled: token !== '',
    staleTime: Infinity,
    retry: false,
  })
  const sub = data ? t.invitation.sub(data.name, t.roles[data.role]) : t.signIn.sub
  const complaint = token === '' ? t.invitation.none : error?.message
  return (
    <LoneForm title={t.invitation.title} sub={sub}>
      {complaint === undefined ? null : (
        <Note tone="danger" role="alert">
          {complaint}
        </Note>
      )}
      {data ? <Accept token={token} invitation={data} onEnter={onEnter} /> : null}
      {(data ?? complaint) ? null : <SkeletonRows />}
    </LoneForm>
  )
}

function Accept({
  token,
  invitation,
  onEnter,
}: Props & { token: string; invitation: { email: string; secret: string; uri: string } }) {
  const t = useDeskTexts()
  const form = useDeskForm({
    initial: { password: '', code: '' },
    schema: acceptInvitation.body,
    body: (values) => ({ body: { token, ...values } }),
    submit: async (body) => {
      const session = await call(acceptInvitation, { body })
      holdCsrf(session.csrfToken)
      onEnter(session)
    },
  })
  return (
    <form noValidate onSubmit={(event) => void form.onSubmit(event)} className="grid gap-5">
      {form.failure ? (
        <Note tone="danger" role="alert">
          {form.failure}
        </Note>
      ) : null}
      <input type="hidden" name="username" autoComplete="username" value={invitation.email} />
      <Field label={t.invitation.step1} error={form.errors['password']}>
        {(control) => (
          <PasswordInput
            {...control}
            {...form.bind('password')}
            autoComplete="new-password"
            showLabel={t.signIn.show}
          />
        )}
      </Field>
      <div>
        <p className="text-sm font-medium">{t.invitation.step2}</p>
        <QrCode
          text={invitation.uri}
          label={t.invitation.qr}
          className="mx-auto my-3 size-48 rounded-lg"
        />
        <p className="text-xs text-ink-3">{t.invitation.key}</p>
        <p className="flex items-center gap-2 font-mono text-xs break-all">
          {invitation.secret}
          <CopyButton text={invitation.secret} label={t.invitation.key} doneLabel="✓" />
        </p>
      </div>
      <Field label={t.invitation.step3} error={form.errors['code']}>
        {(control) => (
          <CodeInput
            control={control}
            value={form.values['code'] ?? ''}
            onChange={(digits) => form.set('code', digits)}
          />
        )}
      </Field>
      <Button type="submit" size="lg" busy={form.busy}>
        {t.invitation.submit}
      </Button>
    </form>
  )
}
