import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { unicodeName } from '../../contract/dns-idn.ts'
import { changeMail, mailAddress, type MailState } from '../../contract/wordpress-mail.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { useDraft } from '../drafts.ts'
import { useLanguage, useTexts } from '../i18n/index.ts'
import { ruleText } from '../../contract/sentences.ts'
import { may } from '../may.ts'
import { Button } from '../ui/Button.tsx'
import { Field, Input, Select } from '../ui/Field.tsx'
import { toast } from '../ui/toast.ts'
import { mailQuery } from './mail-queries.ts'

/** The sender of messages that name no sender of the server: a name, on one of its domains. */
export function MailSender({ server, state }: { server: Server; state: MailState }) {
  const t = useTexts('site', 'parts')
  const language = useLanguage() === 'vi' ? 'vi' : 'en'
  const queryClient = useQueryClient()
  const [, nameNow = '', domainNow = ''] = /^(.*)@(.*)$/.exec(state.sender) ?? []
  const [name, setName] = useDraft<string | null>('mail sender', null)
  const [domain, setDomain] = useDraft<string | null>('mail domain', null)
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const sender = `${(name ?? nameNow).trim()}@${domain ?? domainNow}`

  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (!mailAddress.safeParse(sender).success) {
      setFault(ruleText('mail_sender_form', language))
      return
    }
    setFault(undefined)
    setBusy(true)
    try {
      const fresh = await call(changeMail, { params: { id: server.id }, body: { sender } })
      queryClient.setQueryData(mailQuery(server.id).queryKey, fresh)
      setName(null)
      setDomain(null)
      toast.success(t.toast.success, t.mail.saved(fresh.sender))
    } catch (error) {
      const said = error instanceof ApiError ? error.fields['sender'] : undefined
      setFault(said)
      if (said === undefined) toast.error(t.toast.error, messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <section aria-labelledby="mail-sender" className="border-t border-border pt-5">
      <h4 id="mail-sender" className="text-sm font-semibold">
        {t.mail.sender}
      </h4>
      <form
        noValidate
        onSubmit={(event) => void save(event)}
        className="mt-3 grid max-w-xl gap-x-2 gap-y-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,1.4fr)]"
      >
        <Field label={t.mail.senderLabel} error={fault}>
          {(control) => (
            <Input
              {...control}
              value={name ?? nameNow}
              disabled={!may('servers:write')}
              maxLength={64}
              spellCheck={false}
              autoCapitalize="none"
              autoComplete="off"
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
        <Field label={t.mail.domainLabel}>
          {(control) => (
            <Select
              {...control}
              value={domain ?? domainNow}
              disabled={!may('servers:write')}
              onChange={({ target }) => setDomain(target.value)}
            >
              {state.senderDomains.map((one) => (
                <option key={one} value={one}>
                  @{unicodeName(one)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <p className="text-xs text-ink-3 sm:col-span-2">{t.mail.senderHint}</p>
        <div className="sm:col-span-2">
          <Button
            type="submit"
            variant="outline"
            shown={may('servers:write')}
            busy={busy}
            disabled={sender === state.sender}
            className="max-sm:w-full"
          >
            {t.mail.save}
          </Button>
        </div>
      </form>
    </section>
  )
}
