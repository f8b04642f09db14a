import type { Status } from '../../contract/wordpress.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'

const tones: Record<Status, Tone> = {
  pending_payment: 'warning',
  provisioning: 'info',
  running: 'success',
  suspended: 'warning',
  failed: 'danger',
  deleting: 'neutral',
}

export function ServerBadge({ status }: { status: Status }) {
  const t = useTexts()
  return (
    <Badge tone={tones[status]} dot live={status === 'provisioning'}>
      {t.server.statuses[status]}
    </Badge>
  )
}
