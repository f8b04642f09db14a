import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  denyNetworks,
  removeSitePassword,
  SitePassword,
  setSitePassword,
  type SiteVisitors,
} from '../../contract/wordpress-visitors.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Button } from '../ui/Button.tsx'
import { Field, Input, inputClass, PasswordInput } from '../ui/Field.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { visitorsQuery } from './site-queries.ts'

/** Who may visit the site: a password before its pages, and denied networks. */
export default function VisitorsTab({ server }: { server: Server }) {
  const t = useTexts('parts')
  const { data, isError, error, refetch } = useQuery(visitorsQuery(server.id))
  if (isError && !data)
    return (
      <LoadError
        text={messageOf(error)}
        retryLabel={t.common.retry}
        onRetry={() => void refetch()}
      />
    )
  if (!data) return <Skeleton className="h-64 rounded-lg" />
  return (
    <div className="grid gap-8">
      <PasswordPart server={server} visitors={data} />
      <DeniedPart server={server} visitors={data} />
    </div>
  )
}

interface PartProps {
  readonly server: Server
  readonly visitors: SiteVisitors
}

/** Replaces the shown state by the server's answer. */
function useAnswer(id: string): (fresh: SiteVisitors) => void {
  const queryClient = useQueryClient()
  return (fresh) => queryClient.setQueryData(visitorsQuery(id).queryKey, fresh)
}

function PasswordPart({ server, visitors }: PartProps) {
  const t = useTexts('parts')
  const answer = useAnswer(server.id)
  const [busy, setBusy] = useState(false)
  const [changing, setChanging] = useState(false)
  const open = visitors.user === null
  const remove = async () => {
    setBusy(true)
    try {
      answer(await call(removeSitePassword, { params: { id: server.id } }))
      toast.success(t.toast.success, t.visitors.passwordOff)
    } catch (error) {
      toast.error(t.toast.error, messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <section aria-labelledby="site-password" className="max-w-xl">
      <h3 id="site-password" className="text-sm font-semibold">
        {t.visitors.password}
      </h3>
      <p className="mt-1 text-sm text-ink-2">{t.visitors.passwordText}</p>
      {open ? null : (
        <div className="mt-4 grid gap-3">
          <Note tone="success">{t.visitors.passwordIsOn(visitors.user ?? '')}</Note>
          {changing || !may('servers:write') ? null : (
            <div className="flex flex-wrap gap-2">
              <Button variant="outline" onClick={() => setChanging(true)}>
                {t.visitors.change}
              </Button>
              <Button variant="outline" busy={busy} onClick={() => void remove()}>
                {t.visitors.remove}
              </Button>
            </div>
          )}
        </div>
      )}
      {(open && may('servers:write')) || changing ? (
        <PasswordForm
          server={server}
          user={visitors.user ?? ''}
          onDone={(fresh) => {
            answer(fresh)
            setChanging(false)
          }}
          onCancel={open ? null : () => setChanging(false)}
        />
      ) : null}
    </section>
  )
}

function PasswordForm({
  server,
  user,
  onDone,
  onCancel,
}: {
  readonly server: Server
  readonly user: string
  readonly onDone: (fresh: SiteVisitors) => void
  readonly onCancel: (() => void) | null
}) {
  const t = useTexts('parts')
  const { form, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { user, password: '' },
    schema: SitePassword,
    submit: async (body) => {
      onDone(await call(setSitePassword, { params: { id: server.id }, body }))
      toast.success(t.toast.success, t.visitors.passwordOn)
    },
  })
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => void onSubmit(event)}
      className="mt-4 grid gap-4"
    >
      {failure && Object.keys(failure.fields).length === 0 ? (
        <Note tone="danger" role="alert">
          {failure.message}
        </Note>
      ) : null}
      <Field label={t.visitors.user} error={errors['user']}>
        {(control) => (
          <Input
            {...control}
            {...bind('user')}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
      </Field>
      <Field
        label={t.visitors.newPassword}
        error={errors['password']}
        hint={t.visitors.passwordHint}
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
      <div className="flex flex-wrap gap-2">
        <Button type="submit" busy={busy}>
          {onCancel ? t.visitors.save : t.visitors.ask}
        </Button>
        {onCancel ? (
          <Button variant="outline" onClick={onCancel}>
            {t.common.cancel}
          </Button>
        ) : null}
      </div>
    </form>
  )
}

const linesOf = (text: string): string[] => text.split(/[\s,;]+/).filter((line) => line !== '')

function DeniedPart({ server, visitors }: PartProps) {
  const t = useTexts('parts')
  const answer = useAnswer(server.id)
  const stored = visitors.denied.join('\n')
  /** The typed text; null: as stored. */
  const [typed, setTyped] = useState<string | null>(null)
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    setFault(undefined)
    try {
      const body = { networks: linesOf(typed ?? stored) }
      const fresh = await call(denyNetworks, { params: { id: server.id }, body })
      answer(fresh)
      setTyped(null)
      toast.success(t.toast.success, t.visitors.deniedSaved(fresh.denied.length))
    } catch (error) {
      const field = error instanceof ApiError ? Object.values(error.fields)[0] : undefined
      setFault(field ?? messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <section aria-labelledby="denied" className="max-w-xl border-t border-border pt-6">
      <h3 id="denied" className="text-sm font-semibold">
        {t.visitors.denied}
      </h3>
      <p className="mt-1 mb-4 text-sm text-ink-2">{t.visitors.deniedText}</p>
      <Field
        label={t.visitors.networks}
        error={fault}
        hint={t.visitors.deniedHint(visitors.address)}
      >
        {(control) => (
          <textarea
            {...control}
            value={typed ?? stored}
            readOnly={!may('servers:write')}
            onChange={({ target }) => setTyped(target.value)}
            rows={5}
            spellCheck={false}
            autoCapitalize="none"
            placeholder={'203.0.113.7\n198.51.100.0/24'}
            className={`${inputClass} num h-auto min-h-28 py-2`}
          />
        )}
      </Field>
      <Button
        className="mt-4"
        variant="outline"
        shown={may('servers:write')}
        busy={busy}
        disabled={typed === null || typed === stored}
        onClick={() => void save()}
      >
        {t.visitors.save}
      </Button>
    </section>
  )
}
