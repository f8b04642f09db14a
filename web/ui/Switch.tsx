import type { ReactNode } from 'react'
import { useId } from 'react'

interface SwitchProps {
  label: ReactNode
  hint?: ReactNode
  checked: boolean
  disabled?: boolean
  /** The change is being saved: the switch keeps the focus and cannot be turned. */
  busy?: boolean
  onChange: (checked: boolean) => void
}

/**
 * A setting that takes effect at once: a checkbox that looks like a switch and is announced as one.
 */
export function Switch({ label, hint, checked, disabled, busy, onChange }: SwitchProps) {
  const id = useId()
  return (
    <div className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        {hint ? (
          <p id={`${id}-hint`} className="mt-0.5 text-xs text-ink-3">
            {hint}
          </p>
        ) : null}
      </div>
      <input
        id={id}
        type="checkbox"
        role="switch"
        checked={checked}
        aria-checked={checked}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        aria-disabled={busy || undefined}
        onChange={(event) => busy || onChange(event.target.checked)}
        className={
          'relative mt-0.5 h-6 w-10.5 shrink-0 cursor-pointer appearance-none rounded-full ' +
          'bg-[var(--control)] transition-colors before:absolute before:top-0.5 ' +
          'before:left-0.5 before:size-5 before:rounded-full before:bg-white ' +
          'before:shadow-sm before:transition-transform checked:bg-primary ' +
          'checked:before:translate-x-4.5 disabled:cursor-not-allowed disabled:opacity-50 ' +
          'aria-disabled:cursor-not-allowed aria-disabled:opacity-50'
        }
      />
    </div>
  )
}
