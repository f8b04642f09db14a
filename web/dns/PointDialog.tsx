import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Domain } from '../../contract/dns.ts'
import { pointAtServer } from '../../contract/dns-changes.ts'
import { ApiError, Attempt, call, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { choosableServersQuery } from '../programs/choosable.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Select } from '../ui/Field.tsx'
import { LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { recordLine } from './wording.ts'

export default function PointDialog({ domain, onClose }: { domain: Domain; onClose: () => void }) {
  const t = useTexts('dns', 'dnsParts')
  const queryClient = useQueryClient()
  const { data, isPending, isError, error, refetch } = useQuery(choosableServersQuery)
  const servers = data?.filter(({ status }) => status === 'running') ?? []
  const [attempt] = useState(() => new Attempt())
  const [choice, setChoice] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string>()
  const server = servers.find(({ id }) => id === choice) ?? servers[0]

  const preview = useQuery({
    queryKey: ['dns', 'point', domain.id, server?.id],
    queryFn: ({ signal }) =>
      call(
        pointAtServer,
        { params: { id: domain.id }, body: { wp: server?.id ?? '', preview: true } },
        { signal },
      ),
    enabled: server !== undefined,
    retry: false,
  })
  const changes = preview.data

  const point = async () => {
    if (!server) return
    setBusy(true)
    setRefusal(undefined)
    try {
      await attempt.run(pointAtServer, { params: { id: domain.id }, body: { wp: server.id } })
      toast.success(t.toast.success, t.point.done(server.name))
      for (const subject of ['dns', 'servers'])
        void queryClient.invalidateQueries({ queryKey: [subject] })
      onClose()
    } catch (failure) {
      const fields = failure instanceof ApiError ? Object.values(failure.fields) : []
      setRefusal(fields[0] ?? messageOf(failure))
      toast.error(t.toast.error, t.point.failed)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Dialog
      open
      onClose={onClose}
      busy={busy}
      title={t.point.title}
      description={t.point.text}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button busy={busy} disabled={!changes} onClick={() => void point()}>
            {t.point.confirm}
          </Button>
        </>
      }
    >
      {isPending ? <SkeletonRows rows={1} /> : null}
      {isError && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data && servers.length === 0 ? <Note tone="info">{t.point.none}</Note> : null}
      {server ? (
        <Field label={t.point.server} error={refusal}>
          {(control) => (
            <Select
              {...control}
              value={server.id}
              onChange={(event) => setChoice(event.target.value)}
            >
              {servers.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
      ) : null}
      <div aria-live="polite" className="mt-4">
        {server && preview.isPending ? <SkeletonRows rows={2} /> : null}
        {preview.isError ? (
          <LoadError
            text={messageOf(preview.error)}
            retryLabel={t.common.retry}
            onRetry={() => void preview.refetch()}
          />
        ) : null}
        {changes && changes.added.length + changes.removed.length === 0 ? (
          <Note tone="info">{t.point.unchanged}</Note>
        ) : null}
        {changes && changes.added.length + changes.removed.length > 0 ? (
          <>
            <p className="mb-1.5 text-sm font-medium">{t.point.preview}</p>
            <ul className="grid gap-0.5 font-mono text-xs">
              {changes.removed.map((state) => (
                <li key={recordLine(state)} className="break-all text-danger">
                  − {recordLine(state)}
                </li>
              ))}
              {changes.added.map((state) => (
                <li key={recordLine(state)} className="break-all text-success">
                  + {recordLine(state)}
                </li>
              ))}
            </ul>
          </>
        ) : null}
      </div>
    </Dialog>
  )
}
