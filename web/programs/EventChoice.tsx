import { eventNames, type EventName } from '../../contract/events.ts'
import { useTexts } from '../i18n/index.ts'
import { Checkbox } from '../ui/Checkbox.tsx'

type Group = 'servers' | 'domains' | 'invoices' | 'wallet' | 'tickets'
const groupOf = (event: EventName): Group => {
  if (event.startsWith('wordpress.')) return 'servers'
  if (event.startsWith('dns.')) return 'domains'
  if (event.startsWith('ticket.')) return 'tickets'
  return event.startsWith('wallet.') ? 'wallet' : 'invoices'
}
const groups: readonly Group[] = ['servers', 'domains', 'invoices', 'wallet', 'tickets']

interface EventChoiceProps {
  chosen: readonly EventName[]
  error: string | undefined
  onChange: (events: EventName[]) => void
}

/** A choice among all events, grouped by subject. */
export function EventChoice({ chosen, error, onChange }: EventChoiceProps) {
  const t = useTexts('programs')
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-medium">{t.programs.events}</legend>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,15rem),1fr))] gap-5">
        {groups.map((group) => (
          <fieldset key={group}>
            <legend className="mb-2 text-xs text-ink-3">{t.programs.eventGroups[group]}</legend>
            <div className="grid gap-2">
              {eventNames
                .filter((event) => groupOf(event) === group)
                .map((event) => (
                  <Checkbox
                    key={event}
                    label={t.programs.event[event]}
                    hint={<code className="font-mono">{event}</code>}
                    checked={chosen.includes(event)}
                    onChange={(checked) =>
                      onChange(checked ? [...chosen, event] : chosen.filter((one) => one !== event))
                    }
                  />
                ))}
            </div>
          </fieldset>
        ))}
      </div>
      {error ? (
        <p role="alert" className="mt-2 text-xs font-medium text-danger">
          {chosen.length === 0 ? t.programs.chooseEvents : error}
        </p>
      ) : null}
    </fieldset>
  )
}
