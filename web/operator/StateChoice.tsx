import { useId } from 'react'
import { Select } from '../ui/Field.tsx'

/** Choice of the state that a list shows; it fits on phones too. */
export function StateChoice<S extends string>({
  label,
  states,
  names,
  value,
  onChange,
}: {
  label: string
  states: readonly S[]
  names: Readonly<Record<S, string>>
  value: S
  onChange: (state: S) => void
}) {
  const id = useId()
  return (
    <span className="flex items-center gap-2">
      <label htmlFor={id} className="shrink-0 text-sm text-ink-2">
        {label}
      </label>
      <Select
        id={id}
        value={value}
        onChange={({ target }) => onChange(states.find((state) => state === target.value) ?? value)}
      >
        {states.map((state) => (
          <option key={state} value={state}>
            {names[state]}
          </option>
        ))}
      </Select>
    </span>
  )
}
