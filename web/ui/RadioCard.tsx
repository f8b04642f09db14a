import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { cx } from './cx.ts'

interface RadioCardProps {
  name: string
  value: string
  checked: boolean
  onChange: (value: string) => void
  children: ReactNode
  className?: string
  /** Shows a circle in the corner; without it, the selected card has a stronger edge. */
  corner?: boolean
  disabled?: boolean
}

/**
 * A card that is a real radio inside its label: arrow keys, forms and screen readers work by
 * themselves.
 */
export function RadioCard({
  name,
  value,
  checked,
  onChange,
  children,
  className,
  corner = true,
  disabled = false,
}: RadioCardProps) {
  return (
    <label
      className={cx(
        'group relative flex cursor-pointer rounded-lg bg-surface ' +
          'transition-[background-color,box-shadow] duration-150 ' +
          'hover:shadow-[inset_0_0_0_1px_var(--text-3)]',
        'has-checked:bg-primary-soft has-checked:shadow-[inset_0_0_0_2px_var(--primary)]',
        'has-focus-visible:outline-2 has-focus-visible:outline-offset-2 ' +
          'has-focus-visible:outline-primary-ink',
        'has-disabled:cursor-not-allowed has-disabled:opacity-60',
        corner
          ? 'shadow-[inset_0_0_0_1px_var(--border)]'
          : 'shadow-[inset_0_0_0_1px_color-mix(in_srgb,var(--control)_62%,var(--surface))]',
        className,
      )}
    >
      <input
        type="radio"
        // Beside the text and never over it: the label receives a press on the text.
        className={cx(
          'absolute z-1 cursor-[inherit] appearance-none opacity-0',
          corner ? 'top-3 right-3 size-[18px]' : 'inset-y-0 right-0 w-3',
        )}
        name={name}
        value={value}
        checked={checked}
        disabled={disabled}
        onChange={() => onChange(value)}
      />
      {children}
      {corner ? (
        <span
          aria-hidden
          className={
            'absolute top-3 right-3 grid size-[18px] place-items-center rounded-full ' +
            'text-white shadow-[inset_0_0_0_1.5px_var(--control)] ' +
            'group-has-checked:bg-primary group-has-checked:shadow-none'
          }
        >
          <Check className="hidden size-3 group-has-checked:block" strokeWidth={3.5} />
        </span>
      ) : null}
    </label>
  )
}
