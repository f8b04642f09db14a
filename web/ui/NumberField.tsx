import { Minus, Plus } from 'lucide-react'
import { useState } from 'react'
import { cx } from './cx.ts'
import { wholeNumber } from './whole-number.ts'

interface NumberFieldProps {
  value: number
  min: number
  max: number
  onChange: (value: number) => void
  label: string
  lessLabel: string
  moreLabel: string
}

/**
 * A whole number with − and + beside it. Typed text stays unchanged until the field is left, so
 * that "1.5" never becomes 15. Then a whole number is clamped to the limits, and anything else is
 * replaced by the previous number.
 */
export function NumberField({
  value,
  min,
  max,
  onChange,
  label,
  lessLabel,
  moreLabel,
}: NumberFieldProps) {
  const [text, setText] = useState(String(value))
  const [shown, setShown] = useState(value)
  if (shown !== value) {
    setShown(value)
    setText(String(value))
  }
  const clamp = (number: number) => Math.min(max, Math.max(min, number))
  const type = (next: string) => {
    setText(next.slice(0, 6))
    const number = wholeNumber(next)
    if (number !== undefined && number >= min && number <= max) onChange(number)
  }
  const settle = () => {
    const number = clamp(wholeNumber(text) ?? value)
    setText(String(number))
    onChange(number)
  }
  const button = 'grid size-10 place-items-center hover:bg-subtle disabled:opacity-40'
  return (
    <div
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
      role="group"
      aria-label={label}
      className="flex w-fit rounded-md shadow-[inset_0_0_0_1px_var(--control)]"
    >
      <button
        type="button"
        aria-label={lessLabel}
        disabled={value <= min}
        onClick={() => onChange(clamp(value - 1))}
        className={cx(button, 'rounded-l-md')}
      >
        <Minus aria-hidden className="size-4" />
      </button>
      <input
        role="spinbutton"
        inputMode="numeric"
        autoComplete="off"
        aria-label={label}
        aria-valuenow={value}
        aria-invalid={text === '' || wholeNumber(text) === value ? undefined : true}
        aria-valuemin={min}
        aria-valuemax={max}
        value={text}
        onChange={(event) => type(event.target.value)}
        onBlur={settle}
        onKeyDown={(event) => {
          if (event.key === 'ArrowUp') onChange(clamp(value + 1))
          if (event.key === 'ArrowDown') onChange(clamp(value - 1))
          if (event.key === 'Enter') settle()
        }}
        className={
          'num w-14 bg-transparent text-center text-base font-semibold outline-none ' +
          'focus-visible:outline-2 focus-visible:-outline-offset-2 ' +
          'focus-visible:outline-primary-ink'
        }
      />
      <button
        type="button"
        aria-label={moreLabel}
        disabled={value >= max}
        onClick={() => onChange(clamp(value + 1))}
        className={cx(button, 'rounded-r-md')}
      >
        <Plus aria-hidden className="size-4" />
      </button>
    </div>
  )
}
