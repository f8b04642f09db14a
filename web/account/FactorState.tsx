import { useQuery } from '@tanstack/react-query'
import { useTexts } from '../i18n/index.ts'
import { securityQuery } from '../security/queries.ts'
import { Badge } from '../ui/Badge.tsx'

/** Whether a second factor is required; renders nothing until that is known. */
export default function FactorState() {
  const t = useTexts('account').account
  const { data } = useQuery(securityQuery)
  if (!data) return null
  const on = data.totp || data.passkeys.length > 0
  return (
    <Badge tone={on ? 'success' : 'warning'} dot>
      {on ? t.factorOn : t.factorOff}
    </Badge>
  )
}
