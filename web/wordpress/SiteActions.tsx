import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { RotateCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Server } from '../../contract/wordpress.ts'
import { deleteServer, restartServer } from '../../contract/wordpress-server.ts'
import { Attempt, call, messageOf } from '../api.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { HelpLink } from '../support/HelpLink.tsx'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { DeleteConfirm, useTypedName } from './DeleteConfirm.tsx'
import type { Kind } from './queries.ts'
import { subscriptionQuery } from './site-queries.ts'
import { wording } from './wording.ts'

/** Rare actions that affect visitors: the restart and the deletion of a server. */
export function SiteActions({ server, kind }: { server: Server; kind: Kind }) {
  const t = useTexts('site')
  const [asking, setAsking] = useState<'restart' | 'delete'>()
  // A tab without these permissions has no actions here.
  if (server.status === 'deleting' || !(may('servers:write') || may('tickets:write'))) return null
  return (
    <section
      aria-label={t.site.danger}
      className="mt-6 flex flex-wrap gap-2 border-t border-border pt-5"
    >
      {server.status === 'running' ? (
        <Button
          variant="outline"
          shown={may('servers:write')}
          busy={server.restarting}
          aria-label={server.restarting ? t.site.restarting : undefined}
          onClick={() => setAsking('restart')}
        >
          <RotateCw aria-hidden className="size-4" />
          {t.site.restart}
        </Button>
      ) : null}
      <HelpLink kind="server" id={server.id} />
      <Button variant="danger" shown={may('orders')} onClick={() => setAsking('delete')}>
        <Trash2 aria-hidden className="size-4" />
        {t.site.remove}
      </Button>
      <RestartDialog
        server={server}
        open={asking === 'restart'}
        onClose={() => setAsking(undefined)}
      />
      <DeleteDialog
        server={server}
        kind={kind}
        open={asking === 'delete'}
        onClose={() => setAsking(undefined)}
      />
    </section>
  )
}

function RestartDialog({
  server,
  open,
  onClose,
}: {
  server: Server
  open: boolean
  onClose: () => void
}) {
  const t = useTexts('site')
  const queryClient = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  const [busy, setBusy] = useState(false)
  const restart = async () => {
    setBusy(true)
    try {
      await attempt.run(restartServer, { params: { id: server.id } })
      toast.success(t.toast.success, t.site.restartAsked)
    } catch (error) {
      toast.error(t.toast.error, `${t.site.restartFailed} ${messageOf(error)}`)
    } finally {
      setBusy(false)
      onClose()
      void queryClient.invalidateQueries({ queryKey: ['servers'] })
    }
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      busy={busy}
      title={t.site.restartTitle}
      description={t.site.restartText}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button busy={busy} onClick={() => void restart()}>
            {t.site.restart}
          </Button>
        </>
      }
    />
  )
}

function DeleteDialog({
  server,
  kind,
  open,
  onClose,
}: {
  server: Server
  kind: Kind
  open: boolean
  onClose: () => void
}) {
  const t = useTexts('servers', 'site')
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const confirmed = useTypedName(server.name)
  const [busy, setBusy] = useState(false)
  const close = () => {
    confirmed.clear()
    onClose()
  }
  const remove = async () => {
    if (busy) return
    setBusy(true)
    try {
      await call(deleteServer, { params: { id: server.id } })
      for (const subject of ['servers', 'invoices', 'me', 'transactions'])
        void queryClient.invalidateQueries({ queryKey: [subject] })
      toast.success(t.toast.success, t.site.removed(server.name))
      await navigate({ to: wording(kind, t).listTo })
    } catch (error) {
      toast.error(t.toast.error, `${t.site.removeFailed} ${messageOf(error)}`)
      close()
    } finally {
      setBusy(false)
    }
  }
  const form = `delete-${server.id}`
  const { money } = useFormat()
  const { data: subscription } = useQuery({
    ...subscriptionQuery(server.subscriptionId ?? ''),
    enabled: open && server.subscriptionId !== null,
  })
  const unused = subscription?.unused ?? 0
  return (
    <Dialog
      open={open}
      onClose={close}
      busy={busy}
      title={t.site.removeTitle}
      description={t.site.removeText}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={close}>
            {t.common.cancel}
          </Button>
          <Button
            type="submit"
            form={form}
            variant="danger"
            busy={busy}
            disabled={!confirmed.isRight}
          >
            {t.site.remove}
          </Button>
        </>
      }
    >
      {unused > 0 ? (
        <Note tone="info" className="mb-4">
          {t.site.removeRefund(money(unused, subscription?.currency ?? server.currency))}
        </Note>
      ) : null}
      <DeleteConfirm
        open={open}
        server={server}
        form={form}
        confirmed={confirmed}
        onConfirm={() => void remove()}
      />
    </Dialog>
  )
}
