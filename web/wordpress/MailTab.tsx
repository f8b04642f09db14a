import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { changeMail, type MailState } from '../../contract/wordpress-mail.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, call, messageOf, serverMessageOr } from '../api.ts'
import { useLanguage, useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { HelpLink } from '../support/HelpLink.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { Switch } from '../ui/Switch.tsx'
import { toast } from '../ui/toast.ts'
import { MailLog } from './MailLog.tsx'
import { mailQuery } from './mail-queries.ts'
import { MailRecords } from './MailRecords.tsx'
import { MailSender } from './MailSender.tsx'

/** Email that a server sends: the switch, the sender, the DNS records, and the results. */
export default function MailTab({ server }: { server: Server }) {
  const t = useTexts('site', 'parts')
  const { data, isPending, isError, error, refetch } = useQuery(mailQuery(server.id))
  return (
    <div className="grid gap-6">
      <h3 className="text-sm font-semibold">{t.mail.title}</h3>
      {isPending ? <Skeleton className="h-64 rounded-lg" /> : null}
      {isError && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
          reference={error instanceof ApiError ? error.requestId : undefined}
        />
      ) : null}
      {data ? (
        <>
          {data.suspended ? <Suspended serverId={server.id} suspended={data.suspended} /> : null}
          <Sending server={server} state={data} />
          <MailSender server={server} state={data} />
          <MailRecords server={server} state={data} />
          {may('servers:write') ? <MailLog serverId={server.id} /> : null}
        </>
      ) : null}
    </div>
  )
}

interface SuspendedProps {
  serverId: string
  suspended: NonNullable<MailState['suspended']>
}

function Suspended({ serverId, suspended }: SuspendedProps) {
  const t = useTexts('site', 'parts')
  return (
    <Note tone="danger" className="grid gap-1.5">
      <p className="font-semibold">{t.mail.suspended}</p>
      <p>
        {t.mail.causes[suspended.cause]} {suspended.note}
      </p>
      <p>{t.mail.toDo}</p>
      <p>
        <HelpLink kind="server" id={serverId} size="sm" />
      </p>
    </Note>
  )
}

function Sending({ server, state }: { server: Server; state: MailState }) {
  const t = useTexts('site', 'parts')
  const language = useLanguage()
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const number = (value: number) => value.toLocaleString(language === 'vi' ? 'vi' : 'en')
  const choose = async (enabled: boolean) => {
    setBusy(true)
    try {
      const fresh = await call(changeMail, { params: { id: server.id }, body: { enabled } })
      queryClient.setQueryData(mailQuery(server.id).queryKey, fresh)
      toast.success(t.toast.success, enabled ? t.mail.on : t.mail.off)
    } catch (error) {
      toast.error(t.toast.error, serverMessageOr(error, t.mail.failed))
    } finally {
      setBusy(false)
    }
  }
  const full = state.hour.used >= state.hour.limit
  return (
    <section className="grid gap-5">
      <div className="max-w-xl">
        <Switch
          label={t.mail.enabled}
          hint={t.mail.hint}
          checked={state.enabled}
          disabled={server.status === 'deleting' || !may('servers:write')}
          busy={busy}
          onChange={(checked) => void choose(checked)}
        />
      </div>
      <div>
        <dl className="flex flex-wrap gap-x-10 gap-y-4 text-sm">
          <Fact term={t.mail.hour}>
            <span className={full ? 'text-warning' : ''}>
              {t.mail.ofLimit(number(state.hour.used), number(state.hour.limit))}
            </span>
          </Fact>
          <Fact term={t.mail.waiting}>{number(state.waiting)}</Fact>
        </dl>
        <p className="mt-2 text-xs text-ink-3">{t.mail.limitHint}</p>
      </div>
    </section>
  )
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-ink-3">{term}</dt>
      <dd className="num mt-1 font-medium">{children}</dd>
    </div>
  )
}
