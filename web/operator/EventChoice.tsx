import {
  operatorEventNames,
  type OperatorEventGroup,
  type OperatorEventName,
} from '../../contract/operator-webhooks.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import type { FieldControl } from '../ui/Field.tsx'
import { useDeskTexts } from './language.ts'

const groupOf = (event: OperatorEventName): OperatorEventGroup =>
  event.slice(0, event.indexOf('.')) as OperatorEventGroup
const groups = [...new Set(operatorEventNames.map(groupOf))].toSorted()

/**
 * A choice among all events that a webhook of the provider may receive, grouped by subject. The
 * value is a comma-separated text.
 */
export function EventChoice({
  value,
  onChange,
  ...control
}: FieldControl & {
  value: string
  onChange: (value: string) => void
}) {
  const t = useDeskTexts()
  const { groups: names, event: labels, all } = t.outgoing
  const name = t.fields.events
  const chosen = value.split(',').filter(Boolean)
  const choose = (events: readonly string[]): void => onChange(events.join(','))
  return (
    // The group carries the invalid state, and gets the focus then.
    <fieldset {...control} aria-label={name} tabIndex={-1} className="grid gap-4">
      <Button
        variant="outline"
        size="sm"
        className="justify-self-start"
        onClick={() => choose(operatorEventNames)}
      >
        {all}
      </Button>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,13rem),1fr))] gap-4">
        {groups.map((group) => (
          <fieldset key={group}>
            <legend className="mb-2 text-xs text-ink-3">{names[group]}</legend>
            <div className="grid gap-2">
              {operatorEventNames
                .filter((event) => groupOf(event) === group)
                .map((event) => (
                  <Checkbox
                    key={event}
                    label={labels[event]}
                    hint={<code className="font-mono wrap-anywhere">{event}</code>}
                    checked={chosen.includes(event)}
                    onChange={(checked) =>
                      choose(checked ? [...chosen, event] : chosen.filter((one) => one !== event))
                    }
                  />
                ))}
            </div>
          </fieldset>
        ))}
      </div>
    </fieldset>
  )
}
