import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { openTicket, type TicketFile } from '../../contract/tickets.ts'
import { FormFailure } from '../account/FormFailure.tsx'
import { Attempt } from '../api.ts'
import { useForm } from '../form.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field, Input, inputClass } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { useTexts } from '../i18n/index.ts'
import { Attachments } from './Attachments.tsx'
import { objectQuery, ticketQuery, useSupportTexts } from './support.ts'

interface NewTicketProps {
  /** The subject, as the address names it: `server.<id>`. */
  about: string | undefined
  /** The subject line at first. */
  subject: string | undefined
  onNotAbout: () => void
  onCancel: () => void
  onOpened: (id: string) => void
}

/** The form of a new ticket, about the page that the customer came from. */
export function NewTicket({
  about = '',
  subject = '',
  onNotAbout,
  onCancel,
  onOpened,
}: NewTicketProps) {
  const t = useSupportTexts()
  const { toast: words } = useTexts()
  const queryClient = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  const [files, setFiles] = useState<readonly TicketFile[]>([])
  const dot = about.indexOf('.')
  const [kind, id] = [about.slice(0, Math.max(0, dot)), about.slice(dot + 1)]
  const { data: object } = useQuery({ ...objectQuery(kind, id), enabled: kind !== '' })
  const { form, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { subject: subject.slice(0, 150), text: '' },
    schema: openTicket.body,
    body: (values) => ({
      ...values,
      ...(object && { object: { kind: object.kind, id: object.id } }),
      files: files.map((file) => file.id),
    }),
    keep: ['subject', 'text'],
    submit: async (body) => {
      const ticket = await attempt.run(openTicket, { body })
      queryClient.setQueryData(ticketQuery(ticket.id).queryKey, ticket)
      void queryClient.invalidateQueries({ queryKey: ['tickets', 'list'] })
      toast.success(words.success, t.sent)
      onOpened(ticket.id)
    },
  })
  return (
    <Card>
      <form
        ref={form}
        noValidate
        onSubmit={(event) => void onSubmit(event)}
        className="grid max-w-2xl gap-5"
      >
        <FormFailure failure={failure} />
        {object ? (
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
            <span className="text-ink-3">{t.about}</span>
            <span className="font-medium wrap-anywhere">
              {`${t.objects[object.kind]} ${object.name}`}
            </span>
            <Button variant="ghost" size="sm" onClick={onNotAbout}>
              {t.notAbout}
            </Button>
          </p>
        ) : null}
        <Field label={t.subject} error={errors['subject']}>
          {(control) => <Input {...control} {...bind('subject')} maxLength={150} />}
        </Field>
        <Field label={t.text} hint={t.textHint} error={errors['text']}>
          {(control) => (
            <textarea
              {...control}
              {...bind('text')}
              rows={8}
              className={`${inputClass} h-auto py-2`}
            />
          )}
        </Field>
        <Attachments files={files} onChange={setFiles} error={errors['files']} />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" busy={busy}>
            {t.send}
          </Button>
          <Button variant="outline" onClick={onCancel}>
            {t.cancel}
          </Button>
        </div>
      </form>
    </Card>
  )
}
