import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { allowRecipient, type SentMail } from '../../contract/wordpress-mail.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { LoadMore } from '../ui/LoadMore.tsx'
import { Button } from '../ui/Button.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { mailLogQuery } from './mail-queries.ts'

const tones: Record<SentMail['state'], Tone> = {
  waiting: 'info',
  held: 'warning',
  sent: 'success',
  bounced: 'danger',
  failed: 'danger',
  refused: 'danger',
}

/** Messages that the server sent, newest first, one line per recipient. */
export function MailLog({ serverId }: { serverId: string }) {
  const t = useTexts('site', 'parts')
  const list = useInfiniteQuery(mailLogQuery(serverId))
  const { data, isPending, error, refetch } = list
  const all = data?.pages.flatMap(({ result }) => result)
  return (
    <section aria-labelledby="mail-log" className="border-t border-border pt-5">
      <h4 id="mail-log" className="text-sm font-semibold">
        {t.mail.logTitle}
      </h4>
      {isPending ? <SkeletonRows rows={3} className="mt-4" /> : null}
      {error && !all ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
          reference={error instanceof ApiError ? error.requestId : undefined}
        />
      ) : null}
      {all?.length === 0 ? <Empty text={t.mail.logEmpty} /> : null}
      {all && all.length > 0 ? (
        <ul
          aria-labelledby="mail-log"
          className="mt-4 divide-y divide-border rounded-lg shadow-[inset_0_0_0_1px_var(--border)]"
        >
          {all.map((one) => (
            <Item key={one.id} mail={one} serverId={serverId} />
          ))}
        </ul>
      ) : null}
      <LoadMore
        list={list}
        label={t.mail.more}
        failedText={messageOf(error)}
        retryLabel={t.common.retry}
        className="mt-4"
      />
    </section>
  )
}

/** Allows an address again after a message bounced, because its owner knows that it is right. */
function Allow({ serverId, address }: { serverId: string; address: string }) {
  const t = useTexts('site', 'parts')
  const [busy, setBusy] = useState(false)
  const allow = async () => {
    setBusy(true)
    try {
      await call(allowRecipient, { params: { id: serverId }, body: { address } })
      toast.success(t.toast.success, t.mail.allowed(address))
    } catch (error) {
      if (error instanceof ApiError && error.status === 404)
        toast.success(t.toast.success, t.mail.alreadyAllowed)
      else toast.error(t.toast.error, messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button
      variant="outline"
      size="sm"
      className="mt-2"
      busy={busy}
      aria-label={t.mail.allowing(address)}
      onClick={() => void allow()}
    >
      {t.mail.allow}
    </Button>
  )
}

function Item({ mail, serverId }: { mail: SentMail; serverId: string }) {
  const t = useTexts('site', 'parts')
  const isTried = mail.state === 'waiting' && mail.attempts > 0
  return (
    <li className="px-4 py-3 text-sm">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1.5">
        <div className="min-w-0 flex-1 basis-56">
          <p className="font-medium wrap-anywhere">{mail.to}</p>
          <p className="mt-0.5 break-words text-ink-2">
            {mail.subject === '' ? t.mail.noSubject : mail.subject}
          </p>
        </div>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <time dateTime={mail.at} className="num text-xs text-ink-3">
            {formatTime(mail.at)}
          </time>
          <Badge tone={tones[mail.state]} dot live={mail.state === 'waiting'}>
            {t.mail.mailStates[mail.state]}
          </Badge>
        </div>
      </div>
      <p className="mt-1 text-xs wrap-anywhere text-ink-3">
        {mail.namedFrom === null ? t.mail.from(mail.from) : t.mail.insteadOf(mail.namedFrom)}
      </p>
      {mail.reason === null ? null : (
        <p className="mt-1 text-xs text-ink-2">{t.mail.reasons[mail.reason]}</p>
      )}
      {mail.returnedAt === null ? null : (
        <p className="num mt-1 text-xs text-ink-2">
          {t.mail.returned(formatTime(mail.returnedAt))}
        </p>
      )}
      {mail.said === null ? null : (
        <p className="mt-1 text-xs break-words text-ink-2">{t.mail.said(mail.said)}</p>
      )}
      {isTried && mail.nextAt !== null ? (
        <p className="num mt-1 text-xs text-ink-3">
          {t.mail.tries(mail.attempts)} · {t.mail.next(formatTime(mail.nextAt))}
        </p>
      ) : null}
      {mail.reason === 'recipient_returned' ? (
        <Allow serverId={serverId} address={mail.to} />
      ) : null}
    </li>
  )
}
