import { Eye, EyeOff } from 'lucide-react'
import {
  useId,
  useState,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
} from 'react'
import { cx } from './cx.ts'

export const inputClass = cx(
  'h-10 w-full rounded-md bg-surface px-3 text-base text-ink ' +
    'shadow-[inset_0_0_0_1px_var(--control)] placeholder:text-ink-3',
  'focus-visible:shadow-[inset_0_0_0_1px_var(--primary-ink)] focus-visible:outline-2 ' +
    'focus-visible:outline-offset-0 focus-visible:outline-primary-ink/35',
  // 16 px on phones: iOS zooms into anything smaller.
  'aria-invalid:shadow-[inset_0_0_0_1px_var(--danger)] max-sm:text-[16px]',
)

export interface FieldControl {
  id: string
  'aria-invalid'?: true
  'aria-describedby'?: string
}

interface FieldProps {
  label: ReactNode
  hint?: ReactNode
  error?: ReactNode
  /** A word at the right of the label, such as "optional". */
  aside?: ReactNode
  children: (control: FieldControl) => ReactNode
}

/**
 * A label, its control, and the hint or error below; the control gets the ids that connect them.
 */
export function Field({ label, hint, error, aside, children }: FieldProps) {
  const id = useId()
  const describedBy = [hint ? `${id}-hint` : '', error ? `${id}-error` : '']
    .filter(Boolean)
    .join(' ')
  return (
    <div className="min-w-0">
      <div className="mb-1.5 flex items-baseline justify-between gap-3">
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        {aside ? (
          <span className="shrink-0 text-xs whitespace-nowrap text-ink-3">{aside}</span>
        ) : null}
      </div>
      {children({
        id,
        ...(error ? { 'aria-invalid': true } : {}),
        ...(describedBy ? { 'aria-describedby': describedBy } : {}),
      })}
      {error ? (
        <p id={`${id}-error`} className="mt-1.5 text-xs font-medium text-danger">
          {error}
        </p>
      ) : null}
      {hint ? (
        <p id={`${id}-hint`} className="mt-1.5 text-xs text-ink-3">
          {hint}
        </p>
      ) : null}
    </div>
  )
}

interface InputProps extends InputHTMLAttributes<HTMLInputElement> {
  ref?: Ref<HTMLInputElement> | undefined
}

export function Input({ className, ...rest }: InputProps) {
  return <input className={cx(inputClass, className)} {...rest} />
}

/** A native select: phones show their own picker. */
export function Select({ className, children, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <select
      className={cx(
        inputClass,
        'appearance-none bg-[length:16px] bg-[position:right_.75rem_center] bg-no-repeat pr-9',
        className,
      )}
      style={{ backgroundImage: chevron }}
      {...rest}
    >
      {children}
    </select>
  )
}
const chevron =
  "url(\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='16' height='16' " +
  "fill='none' stroke='%23818A9F' stroke-width='2' stroke-linecap='round' " +
  "stroke-linejoin='round'%3E%3Cpath d='m4 6 4 4 4-4'/%3E%3C/svg%3E\")"

interface PasswordInputProps extends InputProps {
  showLabel: string
  /** More buttons inside the field, before the reveal button. */
  extra?: ReactNode
  revealed?: boolean
  onReveal?: (shown: boolean) => void
}

export function PasswordInput({
  showLabel,
  extra,
  revealed,
  onReveal,
  className,
  ...rest
}: PasswordInputProps) {
  const [own, setOwn] = useState(false)
  const shown = revealed ?? own
  const toggle = () => {
    setOwn(!shown)
    onReveal?.(!shown)
  }
  return (
    <span className="relative block">
      <input
        className={cx(inputClass, extra ? 'pr-20' : 'pr-11', className)}
        {...rest}
        type={shown ? 'text' : 'password'}
        spellCheck={false}
        autoCapitalize="none"
      />
      <span className="absolute inset-y-0 right-1 flex items-center">
        {extra}
        <button
          type="button"
          title={showLabel}
          aria-pressed={shown}
          onClick={toggle}
          className={
            'grid size-8 place-items-center rounded-md text-ink-3 hover:bg-subtle ' +
            'hover:text-ink'
          }
        >
          {shown ? (
            <EyeOff aria-hidden className="size-4" />
          ) : (
            <Eye aria-hidden className="size-4" />
          )}
          {/* No aria-label: only the field itself may have the label's name. */}
          <span className="sr-only">{showLabel}</span>
        </button>
      </span>
    </span>
  )
}
