import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { closeAccount, getClosing, type Obstacle } from '../../contract/personal-data.ts'
import { call, messageOf } from '../api.ts'
import { signedOut } from '../auth/sign-out.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, PasswordInput } from '../ui/Field.tsx'
import { LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { FormFailure } from './FormFailure.tsx'

/** The page on which each obstacle is resolved. */
const places = {
  servers: '/wordpress',
  domains: '/dns',
  invoices: '/invoice',
  payments: '/transactions',
  debts: '/payment',
  handedOver: '/account/team',
  balance: '/support',
} as const satisfies Record<Obstacle, string>

export default function CloseDialog({ onClose }: { onClose: () => void }) {
  const t = useTexts('account')
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { data, error, refetch } = useQuery({
    queryKey: ['account', 'closing'],
    queryFn: ({ signal }) => call(getClosing, {}, { signal }),
    // No cache: an obstacle that was resolved on another page must disappear at once.
    staleTime: 0,
    gcTime: 0,
  })
  const { form, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { password: '' },
    schema: closeAccount.body,
    submit: async (body) => {
      await call(closeAccount, { body })
      toast.success(t.toast.success, t.account.closed)
      await signedOut(queryClient, () => navigate({ to: '/login' }))
    },
  })
  const stands = data?.obstacles ?? []
  const isReady = data !== undefined && stands.length === 0
  return (
    <Dialog
      open
      onClose={onClose}
      busy={busy}
      title={t.account.closingTitle}
      description={t.account.closingText}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="ghost" disabled={busy} onClick={onClose}>
            {t.common.cancel}
          </Button>
          {isReady ? (
            <Button variant="danger" type="submit" form="close-account" busy={busy}>
              {t.account.closingDo}
            </Button>
          ) : null}
        </>
      }
    >
      {!data && error ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {!data && !error ? <SkeletonRows rows={2} /> : null}
      {stands.length > 0 ? (
        <Note tone="warning">
          <p>{t.account.closingFirst}</p>
          <ul className="mt-2 grid list-disc gap-1 pl-5">
            {stands.map((obstacle) => (
              <li key={obstacle}>
                <Link
                  to={places[obstacle]}
                  {...(obstacle === 'balance' && {
                    search: { about: 'new', subject: t.account.giveBack } as never,
                  })}
                  className="underline"
                  onClick={onClose}
                >
                  {t.account.obstacles[obstacle]}
                </Link>
              </li>
            ))}
          </ul>
        </Note>
      ) : null}
      {isReady ? (
        <form
          ref={form}
          id="close-account"
          noValidate
          onSubmit={(event) => void onSubmit(event)}
          className="grid gap-4"
        >
          <FormFailure failure={failure} />
          <Field label={t.account.current} error={errors['password']}>
            {(control) => (
              <PasswordInput
                {...control}
                {...bind('password')}
                autoComplete="current-password"
                showLabel={t.common.showPassword}
              />
            )}
          </Field>
        </form>
      ) : null}
    </Dialog>
  )
}
