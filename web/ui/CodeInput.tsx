import type { Ref } from 'react'
import { cx } from './cx.ts'
import type { FieldControl } from './Field.tsx'

interface CodeInputProps {
  control: FieldControl
  value: string
  onChange: (digits: string) => void
  /** Called once the last digit is in. */
  onComplete?: (digits: string) => void
  ref?: Ref<HTMLInputElement>
}

const length = 6

/** Whether the code of a form is typed to its end. */
export const hasWholeCode = (form: HTMLFormElement): boolean =>
  form.querySelector<HTMLInputElement>('[name=code]')?.value.length === length

/**
 * One field that looks like six boxes, so that pasting, autofill from a message, and screen readers
 * work as with any other field.
 */
export function CodeInput({ control, value, onChange, onComplete, ref }: CodeInputProps) {
  const type = (text: string) => {
    const digits = text.replace(/\D/g, '').slice(0, length)
    onChange(digits)
    if (digits.length === length && digits !== value) onComplete?.(digits)
  }
  return (
    <span className="group relative isolate block">
      <input
        ref={ref}
        {...control}
        name="code"
        type="text"
        inputMode="numeric"
        autoComplete="one-time-code"
        pattern="\d*"
        value={value}
        onChange={(event) => type(event.target.value)}
        onPaste={(event) => {
          event.preventDefault()
          type(event.clipboardData.getData('text'))
        }}
        className={
          'absolute inset-0 z-10 w-full cursor-text bg-transparent text-[16px] ' +
          'text-transparent caret-transparent outline-none selection:bg-transparent'
        }
      />
      <span aria-hidden className="num grid grid-cols-6 gap-2">
        {Array.from({ length }, (_, index) => (
          <span
            key={index}
            className={cx(
              'grid h-13 place-items-center rounded-md bg-surface text-xl font-semibold ' +
                'shadow-[inset_0_0_0_1px_var(--control)]',
              'group-has-aria-invalid:shadow-[inset_0_0_0_1px_var(--danger)]',
              index === Math.min(value.length, length - 1) &&
                'group-focus-within:shadow-[inset_0_0_0_2px_var(--primary)]',
            )}
          >
            {value[index] ?? ''}
          </span>
        ))}
      </span>
    </span>
  )
}
