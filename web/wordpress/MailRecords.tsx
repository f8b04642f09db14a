import { useQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import { unicodeName } from '../../contract/dns-idn.ts'
import {
  writeMailRecords,
  type MailDomain,
  type MailRecord,
  type MailState,
} from '../../contract/wordpress-mail.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { mailRecordsQuery } from './mail-queries.ts'

const tones: Record<MailRecord['state'], Tone> = {
  found: 'success',
  missing: 'warning',
  differs: 'warning',
  alias: 'neutral',
  unknown: 'neutral',
}
const isOpen = ({ state }: MailRecord): boolean => state === 'missing' || state === 'differs'

/**
 * SPF, DKIM and DMARC of each of the server's names, with the present DNS records, and the button
 * that adds them.
 */
export function MailRecords({ server, state }: { server: Server; state: MailState }) {
  const t = useTexts('site', 'parts')
  const hasDomain = state.senderDomains.length > 1
  const query = useQuery({ ...mailRecordsQuery(server.id), enabled: hasDomain })
  const { data, isPending, isError, error, refetch, isFetching } = query
  return (
    <section aria-labelledby="mail-records" className="border-t border-border pt-5">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h4 id="mail-records" className="text-sm font-semibold">
            {t.mail.recordsTitle}
          </h4>
          <p className="mt-0.5 max-w-prose text-xs text-ink-3">{t.mail.recordsAbout}</p>
        </div>
        {data ? (
          <Button variant="outline" size="sm" busy={isFetching} onClick={() => void refetch()}>
            <RotateCw aria-hidden className="size-3.5" />
            {t.mail.check}
          </Button>
        ) : null}
      </div>
      {hasDomain ? null : (
        <Note tone="info" className="mt-4">
          {t.mail.noDomain}
        </Note>
      )}
      {hasDomain && isPending ? <Skeleton className="mt-4 h-40 rounded-lg" /> : null}
      {isError && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      <div className="mt-4 grid gap-4">
        {data?.data.map((one) => (
          <Domain key={one.domain} server={server} domain={one} />
        ))}
      </div>
    </section>
  )
}

function Domain({ server, domain }: { server: Server; domain: MailDomain }) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const shown = unicodeName(domain.domain)
  const open = domain.records.filter(isOpen)
  const write = async () => {
    setBusy(true)
    try {
      const fresh = await call(writeMailRecords, {
        params: { id: server.id },
        body: { domain: domain.domain },
      })
      const { queryKey } = mailRecordsQuery(server.id)
      queryClient.setQueryData(
        queryKey,
        (now) =>
          now && { data: now.data.map((one) => (one.domain === fresh.domain ? fresh : one)) },
      )
      // Names below this one may share its policy.
      void queryClient.invalidateQueries({ queryKey })
      toast.success(t.toast.success, t.mail.added(shown))
    } catch (error) {
      const said = error instanceof ApiError ? error.fields['domain'] : undefined
      toast.error(t.toast.error, said ?? messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <section
      aria-label={shown}
      className="rounded-lg p-4 shadow-[inset_0_0_0_1px_var(--border)] sm:p-5"
    >
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h5 className="min-w-0 text-sm font-semibold wrap-anywhere">{shown}</h5>
        {open.length === 0 ? (
          <Badge tone="success" dot>
            {t.mail.ready}
          </Badge>
        ) : null}
        {open.length > 0 && domain.here ? (
          <Button
            size="sm"
            shown={may('zones')}
            busy={busy}
            aria-label={t.mail.adding(shown)}
            onClick={() => void write()}
            className="max-sm:w-full"
          >
            {t.mail.add}
          </Button>
        ) : null}
      </div>
      {open.length > 0 ? (
        <p className="mt-1 text-xs text-ink-3">{domain.here ? t.mail.here : t.mail.elsewhere}</p>
      ) : null}
      <ul className="mt-3 grid gap-3">
        {domain.records.map((record) => (
          <RecordItem key={record.kind} record={record} />
        ))}
      </ul>
    </section>
  )
}

function RecordItem({ record }: { record: MailRecord }) {
  const t = useTexts('site', 'parts')
  const { kind, state, name, value, found } = record
  return (
    <li className="rounded-lg bg-subtle p-3 text-sm">
      <span className="flex flex-wrap items-center justify-between gap-2">
        <span className="text-xs font-medium">{t.mail.kinds[kind]}</span>
        <Badge tone={tones[state]} dot>
          {t.mail.states[state]}
        </Badge>
      </span>
      {state === 'alias' ? <p className="mt-2 text-xs text-ink-2">{t.mail.aliasHint}</p> : null}
      {state === 'found' ? (
        <p className="mt-1 font-mono text-xs wrap-anywhere text-ink-3">{name}</p>
      ) : null}
      {state === 'found' || state === 'alias' ? null : (
        <dl className="mt-2 grid gap-x-4 gap-y-1 sm:grid-cols-[auto_minmax(0,1fr)]">
          <dt className="pt-1.5 text-xs text-ink-3">{t.mail.recordName}</dt>
          <dd>
            <Value text={name} />
          </dd>
          <dt className="pt-1.5 text-xs text-ink-3">{t.mail.recordValue}</dt>
          <dd>
            <Value text={value} />
          </dd>
        </dl>
      )}
      {state === 'differs' ? (
        <p className="mt-2 text-xs wrap-anywhere text-ink-2">
          {t.mail.differsHint(found.slice(0, 3).join(' · '))}
        </p>
      ) : null}
    </li>
  )
}

/** A key is long: shows two lines of it, and copies the whole. */
function Value({ text }: { text: string }) {
  const t = useTexts()
  return (
    <span className="flex items-start gap-1">
      <code className="line-clamp-2 min-w-0 pt-1 font-mono text-xs break-all" title={text}>
        {text}
      </code>
      <CopyButton text={text} label={t.common.copyOf(text)} doneLabel={t.common.copied} />
    </span>
  )
}
