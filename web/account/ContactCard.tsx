import { useEffect, type ReactNode } from 'react'
import type * as z from 'zod/mini'
import { confirmEmail, type Account } from '../../contract/account.ts'
import { useDraft } from '../drafts.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { CodeInput } from '../ui/CodeInput.tsx'
import { Field, PasswordInput, type FieldControl } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { FormFailure } from './FormFailure.tsx'
import { useChanged } from './queries.ts'

interface ContactProps<S extends z.ZodMiniType> {
  title: string
  /** The present email or phone number. */
  value: string
  /** The field's name in the form and in the server's messages. */
  field: 'email' | 'phone'
  label: string
  schema: S
  ownEmail: string
  input: (
    control: FieldControl & {
      name: string
      value: string
      onChange: (event: { target: { value: string } }) => void
    },
  ) => ReactNode
  begin: (body: z.output<S>) => Promise<unknown>
  confirm: (code: string) => Promise<Account>
  sent: (to: string) => string
  done: (to: string) => string
  /** The present value is not confirmed yet: what that means, and the button that begins it. */
  unconfirmed?: { readonly text: string; readonly act: string } | undefined
}

/** Three steps: the present value; the new one with the password; the code sent to the new one. */
export function ContactCard<S extends z.ZodMiniType>(props: ContactProps<S>) {
  const t = useTexts('account')
  const [step, setStep] = useDraft<'now' | 'new' | 'same' | { sentTo: string }>(
    `${props.field} step`,
    'now',
  )
  const { unconfirmed } = props
  return (
    <Card
      title={props.title}
      sub={<span className="wrap-anywhere">{props.value}</span>}
      padded={step !== 'now' || unconfirmed !== undefined}
      action={
        step === 'now' ? (
          <Button
            variant="outline"
            size="sm"
            aria-label={`${t.account.change}: ${props.title}`}
            onClick={() => setStep('new')}
          >
            {t.account.change}
          </Button>
        ) : (
          <Button variant="ghost" size="sm" onClick={() => setStep('now')}>
            {t.account.cancel}
          </Button>
        )
      }
    >
      {step === 'now' && unconfirmed ? (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="min-w-0 flex-1 basis-64 text-sm text-ink-2">{unconfirmed.text}</p>
          <Button variant="outline" size="sm" onClick={() => setStep('same')}>
            {unconfirmed.act}
          </Button>
        </div>
      ) : null}
      {step === 'new' || step === 'same' ? (
        <NewForm
          {...props}
          present={step === 'same' ? props.value : undefined}
          onSent={(sentTo) => setStep({ sentTo })}
        />
      ) : null}
      {typeof step === 'object' ? (
        <CodeForm
          text={props.sent(step.sentTo)}
          confirm={props.confirm}
          done={props.done(step.sentTo)}
          onDone={() => setStep('now')}
        />
      ) : null}
    </Card>
  )
}

function NewForm<S extends z.ZodMiniType>({
  title,
  field,
  label,
  schema,
  ownEmail,
  input,
  begin,
  present,
  onSent,
}: ContactProps<S> & {
  /** The present value, where it is the one to confirm. */
  present: string | undefined
  onSent: (to: string) => void
}) {
  const t = useTexts('account')
  const { form, values, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { [field]: present ?? '', password: '' } as Record<
      'email' | 'phone' | 'password',
      string
    >,
    keep: present === undefined ? [field] : [],
    schema,
    submit: async (body) => {
      await begin(body)
      onSent(values[field].trim())
    },
  })
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-4">
      <FormFailure failure={failure} />
      <Field label={present === undefined ? label : title} error={errors[field]}>
        {(control) => input({ ...control, ...bind(field) })}
      </Field>
      {/* Tells password managers whose password this is. */}
      <input type="text" name="username" autoComplete="username" value={ownEmail} readOnly hidden />
      <Field label={t.account.current} error={errors['password']} hint={t.account.currentHint}>
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
        {t.account.sendCode}
      </Button>
    </form>
  )
}

interface CodeProps {
  text: string
  confirm: (code: string) => Promise<Account>
  done: string
  onDone: () => void
}

function CodeForm({ text, confirm, done, onDone }: CodeProps) {
  const t = useTexts('account')
  const changed = useChanged()
  const { form, values, errors, failure, busy, set, onSubmit } = useForm({
    initial: { code: '' },
    // The form for the phone number's code has the same schema.
    schema: confirmEmail.body,
    submit: async ({ code }) => {
      changed(await confirm(code))
      toast.success(t.toast.success, done)
      onDone()
    },
  })
  // Moves the focus to the field that is asked for.
  useEffect(() => form.current?.querySelector('input')?.focus(), [form])
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-4">
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
      <p role="status" className="text-sm wrap-anywhere text-ink-2">
        {text}
      </p>
      <FormFailure failure={failure} />
      <Field label={t.account.code} error={errors['code']}>
        {(control) => (
          <CodeInput control={control} value={values.code} onChange={(code) => set('code', code)} />
        )}
      </Field>
      <Button type="submit" busy={busy} className="justify-self-start">
        {t.account.confirm}
      </Button>
    </form>
  )
}
