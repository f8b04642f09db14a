import type { Domain } from '../../contract/dns.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'

/** A domain's state, in words and colour. */
export function DomainBadge({ domain }: { domain: Domain }) {
  const t = useTexts('dns')
  if (domain.active && domain.movedAt !== null)
    return (
      <Badge tone="danger" dot>
        {t.dns.moved}
      </Badge>
    )
  return (
    <Badge tone={domain.active ? 'success' : 'warning'} dot>
      {domain.active ? t.dns.active : t.dns.pending}
    </Badge>
  )
}
