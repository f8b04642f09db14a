import { useMutation } from '@tanstack/react-query'
import { exportPersonalData } from '../../contract/personal-data.ts'
import { download, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { toast } from '../ui/toast.ts'

/** Downloads everything that the portal stores about the customer as a file. */
export function DataCard() {
  const t = useTexts('account')
  const save = useMutation({
    mutationFn: () => download(exportPersonalData, {}),
    onSuccess: () => toast.success(t.toast.success, t.account.dataSaved),
    onError: (failure) => toast.error(t.toast.error, messageOf(failure)),
  })
  return (
    <Card
      title={t.account.data}
      sub={t.account.dataSub}
      padded={false}
      action={
        <Button variant="outline" size="sm" busy={save.isPending} onClick={() => save.mutate()}>
          {t.account.dataGet}
        </Button>
      }
    >
      {null}
    </Card>
  )
}
