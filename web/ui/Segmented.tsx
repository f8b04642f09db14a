import { useId } from 'react'

interface SegmentedProps<V extends string> {
  label: string
  value: V
  options: readonly { value: V; label: string }[]
  onChange: (value: V) => void
}

/** A choice among a few options, side by side: radios styled as one control. */
export function Segmented<V extends string>({
  label,
  value,
  options,
  onChange,
}: SegmentedProps<V>) {
  const name = useId()
  return (
    <div role="radiogroup" aria-label={label} className="flex w-fit rounded-lg bg-subtle p-1">
      {options.map((option) => (
        <label
          key={option.value}
          className={
            'relative cursor-pointer rounded-md px-3 py-1.5 text-sm font-medium text-ink-2 ' +
            'transition-colors hover:text-ink has-checked:bg-surface has-checked:text-ink ' +
            'has-checked:shadow-card has-focus-visible:outline-2 ' +
            'has-focus-visible:outline-primary-ink'
          }
        >
          <input
            type="radio"
            className="sr-only"
            name={name}
            checked={value === option.value}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </div>
  )
}
