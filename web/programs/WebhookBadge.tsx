import type { Webhook } from '../../contract/webhooks.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'

/** Whether a webhook is called, and whether its calls succeed. */
export function WebhookBadge({ webhook }: { webhook: Webhook }) {
  const t = useTexts('programs')
  if (webhook.disabled)
    return (
      <Badge tone="neutral" dot>
        {t.programs.off}
      </Badge>
    )
  return webhook.failingSince === null ? (
    <Badge tone="success" dot>
      {t.programs.on}
    </Badge>
  ) : (
    <Badge tone="warning" dot>
      {t.programs.failing}
    </Badge>
  )
}
