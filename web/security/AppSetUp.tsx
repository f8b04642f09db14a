import { useQueryClient } from '@tanstack/react-query'
import { confirmTotp } from '../../contract/second-factor.ts'
import { FormFailure } from '../account/FormFailure.tsx'
import { call } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { QrCode } from '../payments/QrCode.tsx'
import { Button } from '../ui/Button.tsx'
import { CodeInput } from '../ui/CodeInput.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Field } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { securityQuery } from './queries.ts'

export interface Begun {
  readonly secret: string
  readonly uri: string
}

/** Shows the secret for the app, and asks for its first code. */
export default function AppSetUp({
  begun,
  onDone,
}: {
  begun: Begun
  onDone: (codes: string[] | null) => void
}) {
  const t = useTexts('security')
  const queryClient = useQueryClient()
  const { form, values, errors, failure, busy, set, onSubmit } = useForm({
    initial: { code: '' },
    schema: confirmTotp.body,
    submit: async (body) => {
      const { recoveryCodes } = await call(confirmTotp, { body })
      toast.success(t.toast.success, t.security.appOn)
      await queryClient.invalidateQueries(securityQuery)
      onDone(recoveryCodes)
    },
  })
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-4">
      <p className="text-sm text-ink-2">{t.security.scan}</p>
      <QrCode text={begun.uri} label={t.security.qr} className="size-44 rounded-lg" />
      <div className="text-sm">
        <p className="text-xs text-ink-3">{t.security.secret}</p>
        <p className="flex items-center gap-1">
          <code className="font-mono text-sm wrap-anywhere">{begun.secret}</code>
          <CopyButton
            text={begun.secret}
            label={t.common.copyOf(t.security.secret)}
            doneLabel={t.common.copied}
          />
        </p>
      </div>
      <FormFailure failure={failure} />
      <Field label={t.security.code} error={errors['code']}>
        {(control) => (
          <CodeInput control={control} value={values.code} onChange={(code) => set('code', code)} />
        )}
      </Field>
      <Button type="submit" busy={busy} className="justify-self-start">
        {t.security.confirm}
      </Button>
    </form>
  )
}
