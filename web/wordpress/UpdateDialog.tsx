import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { beginUpdate, type Software } from '../../contract/wordpress-updates.ts'
import type { Server } from '../../contract/wordpress.ts'
import { Attempt, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Note } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'

/** Asks before an update: its versions, and that forms wait meanwhile. */
export function UpdateDialog({
  server,
  asked,
  onClose,
}: {
  server: Server
  /** Undefined: the dialog is closed. */
  asked: readonly Software[] | undefined
  onClose: () => void
}) {
  const t = useTexts('parts')
  const queryClient = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  const [busy, setBusy] = useState(false)
  const all = asked ?? []
  const begin = async () => {
    setBusy(true)
    try {
      const items = all.map(({ kind, slug }) => ({ kind, slug }))
      await attempt.run(beginUpdate, { params: { id: server.id }, body: { items } })
      toast.success(t.toast.success, t.updates.begun)
    } catch (failure) {
      toast.error(t.toast.error, messageOf(failure))
    } finally {
      setBusy(false)
      onClose()
      void queryClient.invalidateQueries({ queryKey: ['updates', server.id] })
    }
  }
  return (
    <Dialog
      open={asked !== undefined}
      onClose={onClose}
      busy={busy}
      title={t.updates.confirmTitle}
      description={t.updates.confirmText(all.length)}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button busy={busy} onClick={() => void begin()}>
            {t.updates.confirm}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <ul className="grid gap-1.5 text-sm">
          {all.map(({ kind, slug, name, version, available }) => (
            <li key={`${kind}/${slug}`} className="flex flex-wrap gap-x-2">
              <span className="font-medium">{name}</span>
              <span className="num text-ink-2">
                {version} → {available?.version}
              </span>
            </li>
          ))}
        </ul>
        {all.some(({ available }) => available?.rolledBack) ? (
          <Note tone="warning">{t.updates.confirmUndone}</Note>
        ) : null}
      </div>
    </Dialog>
  )
}
