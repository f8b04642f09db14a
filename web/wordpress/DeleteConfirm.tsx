import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { useTexts } from '../i18n/index.ts'
import { configQuery } from '../queries.ts'
import { Field, Input } from '../ui/Field.tsx'
import { Note } from '../ui/State.tsx'
import { backupsQuery } from './site-queries.ts'

/** What was typed into a dialog that deletes a server. */
export function useTypedName(name: string) {
  const [typed, setTyped] = useState('')
  return { typed, setTyped, isRight: typed === name, clear: () => setTyped('') }
}

interface DeleteConfirmProps {
  /** The backups are read only while the dialog is open. */
  open: boolean
  server: { id: string; name: string }
  /** The id of the form, for the button in the dialog's footer. */
  form: string
  confirmed: ReturnType<typeof useTypedName>
  onConfirm: () => void
}

/**
 * The part that every dialog that deletes a server shares: the server's name must be typed, and the
 * text says how long its backups are kept.
 */
export function DeleteConfirm({ open, server, form, confirmed, onConfirm }: DeleteConfirmProps) {
  const t = useTexts('site')
  const { data: config } = useQuery(configQuery)
  const { data: backups } = useInfiniteQuery({ ...backupsQuery(server.id), enabled: open })
  const isBackedUp = backups?.pages[0]?.result.some(({ state }) => state === 'proven') ?? false
  const keptDays = isBackedUp ? (config?.wordpress.backupsKeptDays ?? 0) : 0
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (confirmed.isRight) onConfirm()
  }
  return (
    <>
      {keptDays > 0 ? (
        <Note tone="info" className="mb-4">
          {t.site.removeBackups(keptDays)}
        </Note>
      ) : null}
      <form id={form} onSubmit={submit}>
        <Field label={t.site.removeType(server.name)}>
          {(control) => (
            <Input
              {...control}
              value={confirmed.typed}
              onChange={(event) => confirmed.setTyped(event.target.value)}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
            />
          )}
        </Field>
      </form>
    </>
  )
}
