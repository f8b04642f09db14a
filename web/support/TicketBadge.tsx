import type { Ticket } from '../../contract/tickets.ts'
import { Badge } from '../ui/Badge.tsx'
import { useSupportTexts } from './support.ts'

const tones = { open: 'warning', answered: 'success', closed: 'neutral' } as const

export function TicketBadge({ state }: Pick<Ticket, 'state'>) {
  const t = useSupportTexts()
  return (
    <Badge tone={tones[state]} dot>
      {t.states[state]}
    </Badge>
  )
}
