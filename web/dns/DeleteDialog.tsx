import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteDomain, type Domain } from '../../contract/dns.ts'
import { call, serverMessageOr } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { toast } from '../ui/toast.ts'

interface DeleteDialogProps {
  domain: Domain
  onClose: () => void
  onDeleted: () => void
}

export default function DeleteDialog({ domain, onClose, onDeleted }: DeleteDialogProps) {
  const t = useTexts('dns', 'dnsParts')
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const remove = async () => {
    setBusy(true)
    try {
      await call(deleteDomain, { params: { id: domain.id } })
      toast.success(t.toast.success, t.domain.deleted)
      onClose()
      onDeleted()
    } catch (error) {
      toast.error(t.toast.error, serverMessageOr(error, t.domain.deleteFailed))
    } finally {
      setBusy(false)
      void queryClient.invalidateQueries({ queryKey: ['dns', 'domains'] })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      busy={busy}
      title={t.domain.warning}
      description={t.domain.sure(domain.name)}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button variant="danger" busy={busy} onClick={() => void remove()}>
            {t.dns.delete}
          </Button>
        </>
      }
    >
      <p className="text-sm text-ink-2">{t.domain.sureMore}</p>
    </Dialog>
  )
}
