/** Parts that several stages of an import share. */
import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { discardImport, type Import } from '../../contract/wordpress-import.ts'
import type { Server } from '../../contract/wordpress.ts'
import { Attempt, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { toast } from '../ui/toast.ts'
import { importQuery } from './site-queries.ts'

/** A progress bar with its label; `null`: the duration is unknown. */
export function Progress({
  label,
  aside,
  share,
}: {
  label: string
  aside?: string
  share: number | null
}) {
  const id = useId()
  const percent = share === null ? undefined : Math.round(share * 100)
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
        <span id={id} className="font-medium">
          {label}
        </span>
        <span className="num text-xs text-ink-3">{aside ?? null}</span>
      </div>
      <progress aria-labelledby={id} value={percent} max={100} className="sr-only" />
      <div
        aria-hidden
        className={cx(
          'h-2 overflow-hidden rounded-full bg-subtle',
          'shadow-[inset_0_0_0_1px_var(--border)]',
        )}
      >
        <div
          className={cx(
            'h-full rounded-full bg-primary transition-[width] duration-300',
            share === null && 'w-full animate-pulse',
          )}
          style={percent === undefined ? {} : { width: `${percent}%` }}
        />
      </div>
    </div>
  )
}

/** Discards the upload or the copy, after a question. */
export function Discard({
  server,
  current,
  label,
  onDiscarded,
}: {
  server: Server
  current: Import
  label: string
  onDiscarded?: () => void
}) {
  const t = useTexts('moveIn')
  const queryClient = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  const [open, setOpen] = useState(false)
  const [busy, setBusy] = useState(false)
  const discard = async () => {
    setBusy(true)
    try {
      await attempt.run(discardImport, { params: { id: server.id, importId: current.id } })
      queryClient.setQueryData(importQuery(server.id).queryKey, null)
      onDiscarded?.()
    } catch (failure) {
      toast.error(t.toast.error, messageOf(failure))
    } finally {
      setBusy(false)
      setOpen(false)
      void queryClient.invalidateQueries({ queryKey: ['import', server.id] })
    }
  }
  return (
    <>
      <Button variant="outline" className="justify-self-start" onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        busy={busy}
        title={t.moveIn.cancelTitle}
        description={t.moveIn.cancelText}
        closeLabel={t.common.close}
        footer={
          <>
            <Button variant="outline" onClick={() => setOpen(false)}>
              {t.common.close}
            </Button>
            <Button variant="danger" busy={busy} onClick={() => void discard()}>
              {label}
            </Button>
          </>
        }
      />
    </>
  )
}
