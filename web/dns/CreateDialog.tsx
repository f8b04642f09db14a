import { useQueryClient } from '@tanstack/react-query'
import { useId, useState, type FormEvent } from 'react'
import { createDomain, type Domain } from '../../contract/dns.ts'
import { ApiError, Attempt, messageOf, serverMessageOr } from '../api.ts'
import { useDraft } from '../drafts.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Input } from '../ui/Field.tsx'
import { typedDomain } from '../typed-domain.ts'
import { toast } from '../ui/toast.ts'

export default function CreateDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (domain: Domain) => void
}) {
  const t = useTexts('dns', 'dnsParts')
  const queryClient = useQueryClient()
  const formId = useId()
  const [attempt] = useState(() => new Attempt())
  const [typed, setTyped] = useDraft('new domain', '')
  const [complaint, setComplaint] = useState<string>()
  const [busy, setBusy] = useState(false)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const name = typedDomain(typed)
    // The specification ignores an empty name.
    if (name === '' || busy) return
    setBusy(true)
    setComplaint(undefined)
    try {
      const domain = await attempt.run(createDomain, { body: { name } })
      void queryClient.invalidateQueries({ queryKey: ['dns', 'domains'] })
      toast.success(t.toast.success, t.domain.added)
      onCreated(domain)
    } catch (error) {
      const text =
        (error instanceof ApiError ? error.fields['name'] : undefined) ?? messageOf(error)
      setComplaint(text)
      toast.error(
        t.toast.error,
        text === messageOf(error) ? serverMessageOr(error, t.domain.addFailed) : text,
      )
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog
      open
      onClose={onClose}
      busy={busy}
      title={t.dns.create}
      description={t.domain.createText}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" form={formId} busy={busy}>
            {t.common.confirm}
          </Button>
        </>
      }
    >
      <form id={formId} noValidate onSubmit={(event) => void submit(event)}>
        <Field label={t.dns.name} error={complaint}>
          {(control) => (
            <Input
              {...control}
              name="name"
              value={typed}
              placeholder={t.domain.placeholder}
              inputMode="url"
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={300}
              onChange={(event) => {
                setTyped(event.target.value)
                setComplaint(undefined)
              }}
            />
          )}
        </Field>
      </form>
    </Dialog>
  )
}
