import { Link } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { mostStatementLength, runStatement } from '../../contract/wordpress-database.ts'
import type { Output } from '../../contract/endpoint.ts'
import { call } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Field, inputClass } from '../ui/Field.tsx'
import { Empty, Note } from '../ui/State.tsx'
import { Switch } from '../ui/Switch.tsx'
import { DatabaseGrid } from './DatabaseGrid.tsx'
import { sentenceOf } from './use-row-changes.ts'

/** Runs one SQL statement at a time. */
export function StatementBox({ id }: { id: string }) {
  const t = useTexts('tools')
  const queryClient = useQueryClient()
  const [sql, setSql] = useState('')
  const [allowsChanges, setAllowsChanges] = useState(false)
  const [answer, setAnswer] = useState<Output<(typeof runStatement)['result']>>()
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const run = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    setAnswer(undefined)
    try {
      const given = await call(runStatement, { params: { id }, body: { sql, allowsChanges } })
      setAnswer(given)
      if (given.changed !== null)
        void queryClient.invalidateQueries({ queryKey: ['database', id, 'rows'] })
    } catch (error) {
      setFault(sentenceOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="grid min-w-0 gap-4">
      <form onSubmit={(event) => void run(event)} className="grid gap-4">
        <Field label={t.database.sql} error={fault}>
          {(control) => (
            <textarea
              {...control}
              value={sql}
              maxLength={mostStatementLength}
              rows={5}
              spellCheck={false}
              autoCapitalize="none"
              placeholder="SELECT post_title FROM wp_posts"
              onChange={({ target }) => setSql(target.value)}
              className={`${inputClass} h-auto min-h-28 py-2 font-mono`}
            />
          )}
        </Field>
        <Switch
          label={t.database.allowChanges}
          hint={
            <>
              {t.database.allowChangesHint}{' '}
              <Link
                to="."
                search={{ tab: 'backups' }}
                className="font-medium text-primary-ink underline underline-offset-2"
              >
                {t.database.toBackups}
              </Link>
            </>
          }
          checked={allowsChanges}
          onChange={setAllowsChanges}
        />
        <Button
          type="submit"
          busy={busy}
          disabled={sql.trim() === ''}
          className="justify-self-start"
        >
          {t.database.run}
        </Button>
      </form>
      {answer ? (
        <div className="grid min-w-0 gap-3" aria-live="polite">
          <p className="text-sm text-ink-2">
            {answer.changed === null
              ? t.database.found(answer.rows.length)
              : t.database.changed(answer.changed)}
            {' · '}
            <span className="num">{t.database.took(answer.ms)}</span>
          </p>
          {answer.isCut ? <Note tone="info">{t.database.firstRows}</Note> : null}
          {answer.rows.length > 0 ? (
            <DatabaseGrid label={t.database.sql} columns={answer.columns} rows={answer.rows} />
          ) : null}
          {answer.changed === null && answer.rows.length === 0 ? (
            <Empty text={t.database.empty} />
          ) : null}
        </div>
      ) : null}
    </div>
  )
}
