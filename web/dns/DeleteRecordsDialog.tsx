import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteRecord, deleteRecords, type Domain, type Record } from '../../contract/dns.ts'
import { ApiError, call } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { toast } from '../ui/toast.ts'
import { recordLine } from './wording.ts'

const shown = 6
const atOnce = 2000

interface DeleteRecordsProps {
  domain: Domain
  records: readonly Record[]
  onClose: () => void
  /** The changes to undo, in the order they were made. */
  onDeleted: (changeIds: readonly string[]) => void
}

export default function DeleteRecordsDialog({
  domain,
  records,
  onClose,
  onDeleted,
}: DeleteRecordsProps) {
  const t = useTexts('dns')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [only] = records
  const remove = async () => {
    setBusy(true)
    const done: string[] = []
    try {
      if (records.length === 1 && only) {
        const { changeId } = await call(deleteRecord, {
          params: { id: domain.id, recordId: only.id },
          query: { version: only.version },
        })
        done.push(changeId)
      } else {
        // One call takes a limited number of ids, so several may be needed. Each call is one change
        // in the log.
        for (let at = 0; at < records.length; at += atOnce) {
          const ids = records.slice(at, at + atOnce).map(({ id }) => id)
          done.push(
            (await call(deleteRecords, { params: { id: domain.id }, body: { ids } })).changeId,
          )
        }
      }
    } catch (error) {
      toast.error(t.toast.error, error instanceof ApiError ? error.message : t.records.deleteFailed)
    } finally {
      // What was deleted can be undone, even when deleting the rest failed.
      if (done.length > 0) onDeleted(done)
      setBusy(false)
      onClose()
      void queryClient.invalidateQueries({ queryKey: ['dns'] })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      busy={busy}
      title={t.records.deleteTitle(records.length)}
      description={t.records.deleteText}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button variant="danger" busy={busy} onClick={() => void remove()}>
            {t.records.delete}
          </Button>
        </>
      }
    >
      <ul className="grid gap-1 font-mono text-xs">
        {records.slice(0, shown).map((record) => (
          <li key={record.id} className="truncate rounded-md bg-subtle px-3 py-1.5">
            {recordLine(record)}
          </li>
        ))}
      </ul>
      {records.length > shown ? (
        <p className="mt-2 text-xs text-ink-3">{t.records.andMore(records.length - shown)}</p>
      ) : null}
    </Dialog>
  )
}
