import { useQuery, useQueryClient } from '@tanstack/react-query'
import { changePhpSettings, PhpSettings, type PhpState } from '../../contract/wordpress-php.ts'
import type { Server } from '../../contract/wordpress.ts'
import { call, messageOf } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Button } from '../ui/Button.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { Switch } from '../ui/Switch.tsx'
import { toast } from '../ui/toast.ts'
import { phpQuery } from './site-queries.ts'

/** PHP settings that the owner may change. */
export function PhpPart({ server }: { server: Server }) {
  const t = useTexts('parts')
  const { data, error, refetch } = useQuery(phpQuery(server.id))
  return (
    <section aria-labelledby="php" className="grid max-w-xl gap-4">
      <div>
        <h3 id="php" className="text-sm font-semibold">
          {t.php.title}
        </h3>
        <p className="mt-1 text-sm text-ink-2">{t.php.hint}</p>
      </div>
      {error && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data || error ? null : <Skeleton className="h-64 rounded-lg" />}
      {data ? <PhpForm server={server} state={data} /> : null}
    </section>
  )
}

/** Whole numbers as typed; anything else becomes NaN, which the schema refuses. */
const numberIn = (text: string): number => (/^\d{1,6}$/.test(text.trim()) ? Number(text) : NaN)

function PhpForm({ server, state }: { server: Server; state: PhpState }) {
  const t = useTexts('parts')
  const queryClient = useQueryClient()
  const { settings, most, applying } = state
  const running = server.status === 'running'
  const open = running && may('servers:write')
  const { form, values, errors, failure, busy, bind, set, onSubmit } = useForm({
    initial: {
      uploadMb: String(settings.uploadMb),
      pageSeconds: String(settings.pageSeconds),
      inputVars: String(settings.inputVars),
      debug: settings.debug,
    },
    schema: PhpSettings,
    follows: true,
    body: ({ debug, ...typed }) => ({
      uploadMb: numberIn(typed.uploadMb),
      pageSeconds: numberIn(typed.pageSeconds),
      inputVars: numberIn(typed.inputVars),
      debug,
    }),
    submit: async (body) => {
      const fresh = await call(changePhpSettings, { params: { id: server.id }, body })
      queryClient.setQueryData(phpQuery(server.id).queryKey, fresh)
      toast.success(t.toast.success, t.php.saved)
    },
  })
  const fields = [
    ['uploadMb', t.php.upload, t.php.uploadHint],
    ['pageSeconds', t.php.seconds, t.php.secondsHint(most.pageSeconds)],
    ['inputVars', t.php.vars, t.php.varsHint],
  ] as const
  return (
    <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-5">
      {failure && Object.keys(failure.fields).length === 0 ? (
        <Note tone="danger" role="alert">
          {failure.message}
        </Note>
      ) : null}
      {fields.map(([name, label, hint]) => (
        <Field key={name} label={label} hint={hint} error={errors[name]}>
          {(control) => (
            <Input
              {...control}
              {...bind(name)}
              inputMode="numeric"
              autoComplete="off"
              disabled={!open}
              className="num max-w-40"
            />
          )}
        </Field>
      ))}
      <Switch
        label={t.php.debug}
        hint={t.php.debugHint}
        checked={values.debug}
        disabled={!open}
        onChange={(checked) => set('debug', checked)}
      />
      <div className="flex flex-wrap items-center gap-4">
        <Button
          type="submit"
          shown={may('servers:write')}
          busy={busy}
          disabled={!running}
          className="max-sm:w-full"
        >
          {t.php.save}
        </Button>
        {applying ? <output className="text-sm text-ink-3">{t.php.applying}</output> : null}
      </div>
      {running ? null : <Note tone="info">{t.php.closed}</Note>}
    </form>
  )
}
