import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Paperclip, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { CannedAnswer, TicketAtDesk } from '../../contract/tickets-desk.ts'
import type { TicketFile } from '../../contract/tickets.ts'
import { Button, IconButton } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Field, inputClass, Select } from '../ui/Field.tsx'
import { Segmented } from '../ui/Segmented.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { endpointOfAct } from './act-fields.ts'
import { call, DeskError, newKey } from './api.ts'
import { useDeskTexts } from './language.ts'
import { cannedQuery } from './queries.ts'
import { keepTicketDraft, storedTicketDraft } from './ticket-draft.ts'
import { faultOf, uploadFile } from './ticket-files.ts'
import { useDeskForm } from './use-form.ts'

/** A canned answer in the customer's language, with its placeholders in braces filled in. */
export function filledIn({ text }: CannedAnswer, of: TicketAtDesk): string {
  const values: Readonly<Record<string, string>> = {
    name: of.customer?.name ?? of.sender?.name ?? '',
    object: of.object?.name ?? of.subject,
    reference: `#${of.number}`,
  }
  return text[of.language].replace(
    /\{(name|object|reference)\}/g,
    (_, word: string) => values[word] ?? '',
  )
}

/** A form for an answer, or for a note that only the staff sees. */
export function TicketComposer({
  of,
  member,
  onSent,
}: {
  of: TicketAtDesk
  /** The email address of who writes: what is typed is kept per ticket and member. */
  member: string
  onSent: () => void
}) {
  const t = useDeskTexts()
  const client = useQueryClient()
  const [before] = useState(() => storedTicketDraft(of.id, member))
  // A note that comes back is not sent as an answer.
  const [mode, setMode] = useState<'answer' | 'note'>(before?.mode ?? 'answer')
  const [files, setFiles] = useState<readonly TicketFile[]>([])
  const [closes, setCloses] = useState(false)
  // Idempotency key: a press that is sent twice acts once.
  const [key] = useState(newKey)
  const { data: canned } = useQuery(cannedQuery)
  const act = mode === 'answer' ? 'ticket.answer' : 'ticket.note'
  const endpoint = endpointOfAct(act)
  const form = useDeskForm({
    initial: { text: before?.text ?? '' },
    schema: endpoint.body,
    body: ({ text }) => ({
      body: {
        ticket: of.id,
        text,
        files: files.map(({ id }) => id),
        key,
        ...(mode === 'answer' && { close: closes ? 'yes' : 'no' }),
      },
    }),
    submit: async (body) => {
      await call(endpoint, { body } as never)
      toast.success(t.done, `${t.acts[act] ?? act} · #${of.number}`)
      keepTicketDraft(of.id, member, { mode, text: '' })
      await client.invalidateQueries({ queryKey: ['tickets'] })
      onSent()
    },
  })
  const text = form.values['text'] ?? ''
  useEffect(() => keepTicketDraft(of.id, member, { mode, text }), [of.id, member, mode, text])
  const choose = (id: string) => {
    const chosen = canned?.find((one) => one.id === id)
    if (!chosen) return
    const typed = text.trimEnd()
    const added = filledIn(chosen, of)
    form.set('text', typed === '' ? added : `${typed}\n\n${added}`)
  }
  return (
    <Card>
      <form noValidate onSubmit={(event) => void form.onSubmit(event)} className="grid gap-4">
        <Segmented
          label={t.tickets.mode}
          value={mode}
          options={(['answer', 'note'] as const).map((value) => ({
            value,
            label: t.tickets.modes[value],
          }))}
          onChange={setMode}
        />
        {form.failure ? (
          <Note tone="danger" role="alert">
            {form.failure}
          </Note>
        ) : null}
        {mode === 'answer' && canned && canned.length > 0 ? (
          <Field label={t.tickets.canned}>
            {(control) => (
              <Select {...control} value="" onChange={({ target }) => choose(target.value)}>
                <option value="">{t.tickets.chooseCanned}</option>
                {canned.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        ) : null}
        <Field
          label={mode === 'answer' ? t.tickets.write : t.tickets.writeNote}
          hint={
            mode === 'answer'
              ? t.tickets.inLanguage(
                  of.language === 'vi' ? t.tickets.vietnamese : t.tickets.english,
                )
              : undefined
          }
          error={form.errors['text']}
        >
          {(control) => (
            <textarea
              {...control}
              {...form.bind('text')}
              rows={7}
              className={`${inputClass} h-auto py-2`}
            />
          )}
        </Field>
        {of.customer === null && mode === 'answer' ? (
          <p className="text-xs text-ink-3">{t.tickets.noFiles}</p>
        ) : (
          <Files files={files} onChange={setFiles} />
        )}
        {mode === 'answer' ? (
          <Checkbox checked={closes} label={t.tickets.closeToo} onChange={setCloses} />
        ) : null}
        <div>
          <Button type="submit" busy={form.busy}>
            {mode === 'answer' ? t.tickets.send : t.tickets.saveNote}
          </Button>
        </div>
      </form>
    </Card>
  )
}

function Files({
  files,
  onChange,
}: {
  files: readonly TicketFile[]
  onChange: (change: (now: readonly TicketFile[]) => readonly TicketFile[]) => void
}) {
  const t = useDeskTexts()
  const input = useRef<HTMLInputElement>(null)
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState('')
  const add = async (chosen: readonly File[]) => {
    const wrong = faultOf(chosen, files.length)
    setFault(wrong ?? '')
    if (wrong !== undefined) return
    setBusy(true)
    try {
      for (const file of chosen) {
        const uploaded = await uploadFile(file)
        onChange((now) => [...now, uploaded])
      }
    } catch (error) {
      if (!(error instanceof DeskError)) throw error
      setFault(error.message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      <input
        ref={input}
        type="file"
        multiple
        tabIndex={-1}
        aria-label={t.tickets.attach}
        className="sr-only"
        onChange={({ target }) => {
          void add([...(target.files ?? [])])
          target.value = ''
        }}
      />
      <Button
        variant="outline"
        size="sm"
        busy={busy}
        aria-label={busy ? t.tickets.uploading : undefined}
        onClick={() => input.current?.click()}
      >
        <Paperclip aria-hidden className="size-4" />
        {t.tickets.attach}
      </Button>
      {files.map(({ id, name }) => (
        <span
          key={id}
          className="flex max-w-full items-center gap-1 rounded-md bg-subtle pl-3 text-sm"
        >
          <span className="truncate">{name}</span>
          <IconButton
            label={t.tickets.detach(name)}
            onClick={() => onChange((now) => now.filter((one) => one.id !== id))}
          >
            <X aria-hidden className="size-4" />
          </IconButton>
        </span>
      ))}
      {fault ? (
        <p role="alert" className="basis-full text-xs font-medium text-danger">
          {fault}
        </p>
      ) : null}
    </div>
  )
}
