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

export function ServerBadge({
  status,
  restarting = false,
}: {
  status: Status
  restarting?: boolean
}) {
  const t = useTexts()
  return (
    <Badge
      tone={restarting ? 'info' : tones[status]}
      dot
      live={restarting || status === 'provisioning'}
    >
      {restarting ? t.server.restarting : t.server.statuses[status]}
    </Badge>
  )
}
