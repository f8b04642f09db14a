import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { ArchiveRestore, DatabaseBackup, Download } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import {
  linkBackup,
  makeBackup,
  restoreBackup,
  type Backup,
} from '../../contract/wordpress-backups.ts'
import type { Server } from '../../contract/wordpress.ts'
import { ApiError, Attempt, messageOf } from '../api.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button, IconButton } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { LoadMore } from '../ui/LoadMore.tsx'
import { Empty, LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { backupsQuery } from './site-queries.ts'

const megabyte = 1_048_576

/** Backups of the server, manual and nightly, each with its proof. */
export default function BackupsTab({ server }: { server: Server }) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(backupsQuery(server.id))
  const { data, isPending, error, refetch } = list
  const backups = data?.pages.flatMap(({ result }) => result)
  const [attempt] = useState(() => new Attempt())
  const [asking, setAsking] = useState(false)
  const running = server.status === 'running'
  const busy = backups?.some(({ state, restoring }) => state === 'making' || restoring) ?? false
  const make = async () => {
    setAsking(true)
    try {
      await attempt.run(makeBackup, { params: { id: server.id } })
      toast.success(t.toast.success, t.backups.begun)
    } catch (failure) {
      toast.error(t.toast.error, messageOf(failure))
    } finally {
      setAsking(false)
      void queryClient.invalidateQueries({ queryKey: ['backups', server.id] })
    }
  }
  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h3 className="text-sm font-semibold">{t.backups.title}</h3>
          <p className="mt-0.5 max-w-prose text-xs text-ink-3">{t.backups.about}</p>
        </div>
        <Button
          shown={may('servers:write')}
          busy={asking}
          disabled={!running || busy || isPending}
          onClick={() => void make()}
          className="max-sm:w-full"
        >
          <DatabaseBackup aria-hidden className="size-4" />
          {t.backups.make}
        </Button>
      </div>
      {running ? null : <Note tone="info">{t.backups.closed}</Note>}
      {server.mirroredAt === null ? null : (
        <Note tone="info">{t.backups.mirrored(formatTime(server.mirroredAt))}</Note>
      )}
      {isPending ? <SkeletonRows rows={3} /> : null}
      {error && !backups ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
          reference={error instanceof ApiError ? error.requestId : undefined}
        />
      ) : null}
      {backups?.length === 0 ? (
        <Empty text={may('servers:write') ? t.backups.none : t.backups.noneYet} />
      ) : null}
      {backups && backups.length > 0 ? (
        <ul
          aria-label={t.backups.title}
          className="divide-y divide-border rounded-lg shadow-[inset_0_0_0_1px_var(--border)]"
        >
          {backups.map((backup) => (
            <Item
              key={backup.id}
              siteId={server.id}
              backup={backup}
              restore={{ server, allowed: running && !busy }}
            />
          ))}
        </ul>
      ) : null}
      <LoadMore
        list={list}
        label={t.backups.more}
        failedText={messageOf(error)}
        retryLabel={t.common.retry}
      />
    </div>
  )
}

/** What is left of a deleted server for some days; nothing where there is none. */
export function BackupsLeft({ siteId, otherwise }: { siteId: string; otherwise: ReactNode }) {
  const t = useTexts('site', 'parts')
  const { data, isPending } = useInfiniteQuery(backupsQuery(siteId))
  const backups = data?.pages.flatMap(({ result }) => result) ?? []
  if (isPending) return <SkeletonRows rows={3} />
  if (backups.length === 0) return otherwise
  return (
    <div className="grid gap-4 p-5 sm:p-6">
      <div>
        <h2 className="text-lg font-semibold">{t.backups.leftTitle}</h2>
        <p className="mt-1 max-w-prose text-sm text-ink-2">{t.backups.leftText}</p>
      </div>
      <ul
        aria-label={t.backups.title}
        className="divide-y divide-border rounded-lg shadow-[inset_0_0_0_1px_var(--border)]"
      >
        {backups.map((backup) => (
          <Item key={backup.id} siteId={siteId} backup={backup} />
        ))}
      </ul>
    </div>
  )
}

function Item({
  siteId,
  backup,
  restore,
}: {
  siteId: string
  backup: Backup
  /** The server to which a backup can be restored; absent for a deleted server. */
  restore?: { server: Server; allowed: boolean }
}) {
  const t = useTexts('site', 'parts')
  const { diskSize } = useFormat()
  const [restoring, setRestoring] = useState(false)
  const [fetching, setFetching] = useState(false)
  const [attempt] = useState(() => new Attempt())
  const when = formatTime(backup.createdAt)
  const kinds = {
    nightly: t.backups.nightly,
    manual: t.backups.manual,
    update: t.backups.beforeUpdate,
  }
  const download = async () => {
    if (fetching) return
    setFetching(true)
    try {
      const { url } = await attempt.run(linkBackup, {
        params: { id: siteId, backupId: backup.id },
      })
      // The address is an attachment, so the page stays.
      location.assign(url)
    } catch (error) {
      toast.error(t.toast.error, messageOf(error))
    } finally {
      setFetching(false)
    }
  }
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 text-sm">
      <div className="min-w-0 flex-1 basis-56">
        <p className="num flex flex-wrap items-center gap-x-2.5 gap-y-1 font-medium">
          {when}
          <StateBadge backup={backup} />
        </p>
        <p className="num mt-1 text-xs text-ink-3">
          {kinds[backup.kind]}
          {backup.size === null
            ? ''
            : ` · ${diskSize(Math.max(1, Math.round(backup.size / megabyte)))}`}
          {backup.files === null || backup.rows === null
            ? ''
            : ` · ${t.backups.holds(backup.files, backup.rows)}`}
        </p>
        {backup.provenAt === null ? null : (
          <p className="num mt-0.5 text-xs text-ink-3">
            {t.backups.provenAt(formatTime(backup.provenAt))}
          </p>
        )}
        {backup.state === 'failed' ? (
          <p className="mt-0.5 text-xs text-ink-3">{t.backups.failedHint}</p>
        ) : null}
        {backup.restoredAt === null ? null : (
          <p className="num mt-0.5 text-xs text-ink-3">
            {t.backups.restoredAt(formatTime(backup.restoredAt))}
          </p>
        )}
        {backup.restoreFailedAt === null ||
        (backup.restoredAt ?? '') > backup.restoreFailedAt ? null : (
          <p className="num mt-0.5 text-xs text-danger">
            {t.backups.restoreFailedAt(formatTime(backup.restoreFailedAt))}
          </p>
        )}
      </div>
      {backup.state === 'proven' && may('servers:write') ? (
        <div className="flex items-center gap-2">
          {restore ? (
            <Button
              variant="outline"
              size="sm"
              disabled={!restore.allowed}
              aria-label={t.backups.restoreOf(when)}
              onClick={() => setRestoring(true)}
            >
              <ArchiveRestore aria-hidden className="size-4" />
              {t.backups.restore}
            </Button>
          ) : null}
          <IconButton
            label={t.backups.downloadOf(when)}
            size="size-8"
            aria-disabled={fetching || undefined}
            onClick={() => void download()}
          >
            <Download aria-hidden className="size-4" />
          </IconButton>
        </div>
      ) : null}
      {restore ? (
        <RestoreDialog
          server={restore.server}
          backup={backup}
          open={restoring}
          onClose={() => setRestoring(false)}
        />
      ) : null}
    </li>
  )
}

function StateBadge({ backup: { state, restoring } }: { backup: Backup }) {
  const t = useTexts('site', 'parts')
  if (restoring) {
    return (
      <Badge tone="info" dot live>
        {t.backups.restoring}
      </Badge>
    )
  }
  switch (state) {
    case 'making':
      return (
        <Badge tone="info" dot live>
          {t.backups.making}
        </Badge>
      )
    case 'proven':
      return (
        <Badge tone="success" dot>
          {t.backups.proven}
        </Badge>
      )
    case 'failed':
      return (
        <Badge tone="danger" dot>
          {t.backups.failed}
        </Badge>
      )
  }
}

function RestoreDialog({
  server,
  backup,
  open,
  onClose,
}: {
  server: Server
  backup: Backup
  open: boolean
  onClose: () => void
}) {
  const t = useTexts('site', 'parts')
  const queryClient = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  const [busy, setBusy] = useState(false)
  const restore = async () => {
    setBusy(true)
    try {
      await attempt.run(restoreBackup, { params: { id: server.id, backupId: backup.id } })
      toast.success(t.toast.success, t.backups.restoreBegun)
    } catch (error) {
      toast.error(t.toast.error, messageOf(error))
    } finally {
      setBusy(false)
      onClose()
      void queryClient.invalidateQueries({ queryKey: ['backups', server.id] })
    }
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      busy={busy}
      title={t.backups.restoreTitle}
      description={t.backups.restoreText(server.name, formatTime(backup.createdAt))}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button variant="danger" busy={busy} onClick={() => void restore()}>
            {t.backups.restore}
          </Button>
        </>
      }
    />
  )
}
