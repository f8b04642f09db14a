import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type SubmitEvent } from 'react'
import { enterDatabase, leaveDatabase, openDatabase } from '../../contract/wordpress-database.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Field, PasswordInput } from '../ui/Field.tsx'
import { Segmented } from '../ui/Segmented.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { DatabaseTables } from './DatabaseTables.tsx'
import { StatementBox } from './StatementBox.tsx'
import { databaseQuery } from './database-queries.ts'

/** The database of the server, opened by the owner's password. */
export default function DatabaseTab({ server }: { server: Server }) {
  const t = useTexts('tools')
  const isRunning = server.status === 'running'
  const { data, error, refetch } = useQuery({ ...databaseQuery(server.id), enabled: isRunning })
  if (!isRunning) return <Note tone="info">{t.database.onlyRunning}</Note>
  if (error && !data)
    return (
      <LoadError
        text={messageOf(error)}
        retryLabel={t.common.retry}
        onRetry={() => void refetch()}
      />
    )
  if (!data) return <Skeleton className="h-64 rounded-lg" />
  return data.until === null ? (
    <Gate server={server} />
  ) : (
    <Browser server={server} until={data.until} />
  )
}

function Gate({ server }: { server: Server }) {
  const t = useTexts('tools')
  const queryClient = useQueryClient()
  const [password, setPassword] = useState('')
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const open = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      const params = { id: server.id }
      const { ticket } = await call(openDatabase, { params, body: { password } })
      const state = await call(enterDatabase, { params, body: { ticket } })
      queryClient.setQueryData(databaseQuery(server.id).queryKey, state)
    } catch (error) {
      setFault(
        (error instanceof ApiError ? error.fields['password'] : undefined) ?? messageOf(error),
      )
    } finally {
      setBusy(false)
    }
  }
  return (
    <section aria-labelledby="database" className="max-w-xl">
      <h3 id="database" className="text-sm font-semibold">
        {t.database.title}
      </h3>
      <p className="mt-1 mb-4 text-sm text-ink-2">{t.database.closedText}</p>
      <form noValidate onSubmit={(event) => void open(event)} className="grid gap-4">
        <Field label={t.database.password} error={fault}>
          {(control) => (
            <PasswordInput
              {...control}
              value={password}
              maxLength={128}
              autoComplete="current-password"
              showLabel={t.database.showPassword}
              onChange={({ target }) => setPassword(target.value)}
            />
          )}
        </Field>
        <Button type="submit" busy={busy} disabled={password === ''} className="justify-self-start">
          {t.database.open}
        </Button>
      </form>
    </section>
  )
}

function Browser({ server, until }: { server: Server; until: string }) {
  const t = useTexts('tools')
  const queryClient = useQueryClient()
  const [view, setView] = useState<'tables' | 'statement'>('tables')
  // When the access expires, the shown data is removed as well.
  useEffect(() => {
    const close = () => {
      queryClient.removeQueries({
        predicate: ({ queryKey }) => queryKey[0] === 'database' && queryKey.length > 2,
      })
      queryClient.setQueryData(databaseQuery(server.id).queryKey, { until: null })
    }
    const timer = setTimeout(close, Math.max(0, Date.parse(until) - Date.now()))
    return () => clearTimeout(timer)
  }, [queryClient, server.id, until])
  const leave = async () => {
    await call(leaveDatabase, { params: { id: server.id } }).catch(() => undefined)
    await queryClient.resetQueries({ queryKey: ['database', server.id] })
  }
  return (
    <section aria-labelledby="database" className="grid min-w-0 gap-5">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h3 id="database" className="text-sm font-semibold">
            {t.database.title}
          </h3>
          <p className="mt-1 text-sm text-ink-2">{t.database.openUntil(formatTime(until))}</p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <Segmented
            label={t.database.view}
            value={view}
            options={[
              { value: 'tables', label: t.database.tables },
              { value: 'statement', label: t.database.statement },
            ]}
            onChange={setView}
          />
          <Button variant="outline" onClick={() => void leave()}>
            {t.database.close}
          </Button>
        </div>
      </div>
      {view === 'tables' ? <DatabaseTables id={server.id} /> : <StatementBox id={server.id} />}
    </section>
  )
}
