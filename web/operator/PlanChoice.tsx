import { useQuery } from '@tanstack/react-query'
import { Checkbox } from '../ui/Checkbox.tsx'
import type { FieldControl } from '../ui/Field.tsx'
import { LoadError, Skeleton } from '../ui/State.tsx'
import { catalogQuery } from './catalog/queries.ts'
import { useDeskTexts } from './language.ts'

/** A choice of sold plans by name. The value is a text with a list of ids; empty for every plan. */
export function PlanChoice({
  value,
  onChange,
  ...control
}: FieldControl & {
  value: string
  onChange: (value: string) => void
}) {
  const t = useDeskTexts()
  const { data, error, refetch } = useQuery(catalogQuery)
  const chosen = value.split(',').filter(Boolean)
  return (
    // The group carries the invalid state, and gets the focus then.
    <fieldset {...control} aria-label={t.fields.plans} tabIndex={-1} className="grid gap-2">
      <Checkbox
        label={t.money.coupons.everyPlan}
        checked={chosen.length === 0}
        onChange={() => onChange('')}
      />
      {error && !data ? (
        <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
      ) : null}
      {(data ?? error) ? null : <Skeleton className="h-16 rounded-lg" />}
      <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,10rem),1fr))] gap-2">
        {data?.selling.plans
          .filter(({ id, sold }) => sold && id !== null)
          .map(({ id, name }) => (
            <Checkbox
              key={id}
              label={name}
              checked={chosen.includes(String(id))}
              onChange={(checked) =>
                onChange(
                  (checked
                    ? [...chosen, String(id)]
                    : chosen.filter((one) => one !== String(id))
                  ).join(','),
                )
              }
            />
          ))}
      </div>
    </fieldset>
  )
}
