import { useQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { lookForUpdates, type Software, type Updates } from '../../contract/wordpress-updates.ts'
import type { Server } from '../../contract/wordpress.ts'
import { call, messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { updatesQuery } from './site-queries.ts'
import { UpdateDialog } from './UpdateDialog.tsx'
import { UpdateHistory } from './UpdateHistory.tsx'
import { UpdatePolicyChoice } from './UpdatePolicyChoice.tsx'
import { UpdateProgress } from './UpdateProgress.tsx'

/** Installed software, newer releases, the update policy, and the history. */
export default function UpdatesTab({ server }: { server: Server }) {
  const t = useTexts('parts')
  const { data, isPending, isError, error, refetch } = useQuery(updatesQuery(server.id))
  useReadAfterEnd(server.id, data)
  return (
    <section aria-labelledby="updates" className="grid gap-6">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h3 id="updates" className="text-sm font-semibold">
            {t.updates.title}
          </h3>
          <p className="mt-0.5 max-w-prose text-xs text-ink-3">{t.updates.about}</p>
        </div>
        {data?.hasDirectory && may('servers:write') ? (
          <LookButton server={server} updates={data} />
        ) : null}
      </div>
      {isPending ? <Skeleton className="h-64 rounded-lg" /> : null}
      {isError && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data ? (
        <>
          {data.hasDirectory ? null : <Note tone="info">{t.updates.off}</Note>}
          {server.status === 'running' ? null : <Note tone="info">{t.updates.closed}</Note>}
          {data.running ? <UpdateProgress update={data.running} /> : null}
          <Installed server={server} updates={data} />
          <UpdatePolicyChoice server={server} updates={data} />
          <UpdateHistory server={server} />
        </>
      ) : null}
    </section>
  )
}

/** Refetches the history when the running update has ended. */
function useReadAfterEnd(id: string, data: Updates | undefined) {
  const queryClient = useQueryClient()
  const before = useRef<string | undefined>(undefined)
  const running = data?.running?.id
  useEffect(() => {
    if (before.current !== undefined && running === undefined) {
      void queryClient.invalidateQueries({ queryKey: ['updates', id] })
      void queryClient.invalidateQueries({ queryKey: ['backups', id] })
    }
    before.current = running
  }, [running, id, queryClient])
}

function LookButton({ server, updates }: { server: Server; updates: Updates }) {
  const t = useTexts('parts')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const look = async () => {
    setBusy(true)
    try {
      const fresh = await call(lookForUpdates, { params: { id: server.id } })
      queryClient.setQueryData(updatesQuery(server.id).queryKey, fresh)
    } catch (failure) {
      toast.error(t.toast.error, messageOf(failure))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="grid gap-1 max-sm:w-full sm:justify-items-end">
      <Button
        variant="outline"
        busy={busy}
        disabled={server.status !== 'running' || updates.running !== null}
        onClick={() => void look()}
        className="max-sm:w-full"
      >
        <RotateCw aria-hidden className="size-4" />
        {t.updates.look}
      </Button>
      {updates.lookedAt === null ? null : (
        <p className="num text-xs text-ink-3">{t.updates.lookedAt(formatTime(updates.lookedAt))}</p>
      )}
    </div>
  )
}

const kinds = ['core', 'plugin', 'theme'] as const

/** Whether the release can be installed now. */
const isReady = ({ available }: Software): boolean => available !== null && available.needs === null

function Installed({ server, updates }: { server: Server; updates: Updates }) {
  const t = useTexts('parts')
  const [asked, setAsked] = useState<readonly Software[]>()
  const ready = updates.software.filter(isReady)
  // A release that was rolled back here is installed only if the owner chooses it explicitly.
  const usual = ready.filter(({ available }) => !available?.rolledBack)
  const canBegin = server.status === 'running' && updates.hasDirectory && updates.running === null
  if (updates.lookedAt === null) return <Note tone="info">{t.updates.neverLooked}</Note>
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-sm font-medium">
          {ready.length === 0 ? t.updates.upToDate : t.updates.newer(ready.length)}
        </p>
        {usual.length > 0 ? (
          <Button
            shown={may('servers:write')}
            disabled={!canBegin}
            onClick={() => setAsked(usual)}
            className="max-sm:w-full"
          >
            {t.updates.all}
          </Button>
        ) : null}
      </div>
      {kinds.map((kind) => {
        const all = updates.software.filter((one) => one.kind === kind)
        return all.length === 0 ? null : (
          <div key={kind}>
            <h4 className="mb-2 text-xs font-medium text-ink-3">{t.updates.kinds[kind]}</h4>
            <ul
              className={'divide-y divide-border rounded-lg shadow-[inset_0_0_0_1px_var(--border)]'}
            >
              {all.map((one) => (
                <Item
                  key={one.slug}
                  software={one}
                  canBegin={canBegin}
                  onUpdate={() => setAsked([one])}
                />
              ))}
            </ul>
          </div>
        )
      })}
      <UpdateDialog server={server} asked={asked} onClose={() => setAsked(undefined)} />
    </div>
  )
}

function Item({
  software,
  canBegin,
  onUpdate,
}: {
  software: Software
  canBegin: boolean
  onUpdate: () => void
}) {
  const t = useTexts('parts')
  const { name, version, active, available } = software
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 text-sm">
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1 font-medium">
          <span className="min-w-0 break-words">{name}</span>
          <span className="num font-normal text-ink-3">{version}</span>
          {active ? null : <Badge>{t.updates.inactive}</Badge>}
          {available?.security ? (
            <Badge tone="warning" dot>
              {t.updates.security}
            </Badge>
          ) : null}
        </p>
        {available ? (
          <p className="num mt-1 text-xs text-ink-2">
            {available.needs === null
              ? t.updates.available(available.version)
              : t.updates.needs[available.needs](available.version)}
          </p>
        ) : null}
        {available?.rolledBack ? (
          <p className="num mt-0.5 text-xs text-danger">
            {t.updates.undoneBefore(available.version)}
          </p>
        ) : null}
      </div>
      {available && available.needs === null ? (
        <Button
          variant="outline"
          size="sm"
          shown={may('servers:write')}
          disabled={!canBegin}
          aria-label={t.updates.oneOf(name, available.version)}
          onClick={onUpdate}
        >
          {t.updates.one}
        </Button>
      ) : null}
      {available ? null : <span className="text-xs text-ink-3">{t.updates.newestLabel}</span>}
    </li>
  )
}
