import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { toast } from '../ui/toast.ts'
import { securityQuery } from './queries.ts'

interface ConfirmButtonProps<R> {
  label: string
  /** The accessible label, where the visible label does not name its object. */
  fullLabel?: string
  title: string
  text: string
  /** True: the action removes something. */
  danger?: boolean
  act: () => Promise<R>
  done?: string
  onDone?: (result: R) => void
  /** The queries to refetch afterwards; if absent, those of the second factor's page. */
  refreshes?: { readonly queryKey: QueryKey; readonly exact?: boolean }
}

/** A button that asks before it acts. */
export function ConfirmButton<R>({
  label,
  fullLabel,
  title,
  text,
  danger = false,
  act,
  done,
  onDone,
  refreshes = { queryKey: securityQuery.queryKey },
}: ConfirmButtonProps<R>) {
  const t = useTexts()
  const queryClient = useQueryClient()
  const [open, setOpen] = useState(false)
  const run = useMutation({
    mutationFn: act,
    onSuccess: (result) => {
      setOpen(false)
      if (done !== undefined) toast.success(t.toast.success, done)
      onDone?.(result)
    },
    onError: (error) => toast.error(t.toast.error, messageOf(error)),
    onSettled: () => queryClient.invalidateQueries(refreshes),
  })
  return (
    <>
      <Button variant="outline" size="sm" aria-label={fullLabel} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        busy={run.isPending}
        title={title}
        description={text}
        closeLabel={t.common.close}
        footer={
          <>
            <Button variant="ghost" disabled={run.isPending} onClick={() => setOpen(false)}>
              {t.common.cancel}
            </Button>
            <Button
              variant={danger ? 'danger' : 'primary'}
              busy={run.isPending}
              onClick={() => run.mutate()}
            >
              {label}
            </Button>
          </>
        }
      />
    </>
  )
}
