import { useId, type ReactNode } from 'react'

interface CheckboxProps {
  label: ReactNode
  hint?: ReactNode
  error?: ReactNode
  checked: boolean
  onChange: (checked: boolean) => void
}

/**
 * A choice that takes effect when its form is sent; `Switch` is for choices that take effect at
 * once.
 */
export function Checkbox({ label, hint, error, checked, onChange }: CheckboxProps) {
  const id = useId()
  const describedBy = [hint ? `${id}-hint` : '', error ? `${id}-error` : '']
    .filter(Boolean)
    .join(' ')
  return (
    <div className="flex items-start gap-2.5">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy || undefined}
        onChange={(event) => onChange(event.target.checked)}
        className="mt-0.5 shrink-0"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="cursor-pointer text-sm font-medium">
          {label}
        </label>
        {error ? (
          <p id={`${id}-error`} className="mt-0.5 text-xs font-medium text-danger">
            {error}
          </p>
        ) : null}
        {hint ? (
          <p id={`${id}-hint`} className="mt-0.5 text-xs text-ink-3">
            {hint}
          </p>
        ) : null}
      </div>
    </div>
  )
}
