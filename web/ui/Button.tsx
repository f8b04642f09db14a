import type { ButtonHTMLAttributes, Ref, SyntheticEvent } from 'react'
import { cx } from './cx.ts'

const variants = {
  primary:
    'bg-primary text-white hover:bg-primary-hover shadow-[inset_0_1px_0_rgb(255_255_255/.14)]',
  outline:
    'bg-surface text-ink shadow-[0_0_0_1px_var(--border),0_1px_2px_rgb(16_23_42/.05)] ' +
    'hover:bg-subtle',
  ghost: 'text-ink-2 hover:bg-subtle hover:text-ink',
  soft: 'bg-primary-soft text-primary-ink hover:brightness-[.97] dark:hover:brightness-125',
  danger: 'bg-surface text-danger shadow-[inset_0_0_0_1px_var(--danger)] hover:bg-danger-soft',
  white: 'bg-white text-[#1B2A78] hover:bg-white/90',
  glass: 'bg-white/12 text-white hover:bg-white/20',
} as const
const sizes = {
  sm: 'h-8 px-3 text-sm gap-1.5',
  md: 'h-9 px-3.5 text-sm gap-2',
  lg: 'h-11 px-5 text-base gap-2',
} as const

const quiet = 'bg-subtle! text-ink-3! shadow-none!'
const idle: Partial<Record<keyof typeof variants, string>> = {
  primary: quiet,
  outline: 'text-ink-3!',
  ghost: 'text-ink-3!',
  soft: quiet,
  danger: quiet,
}

export type ButtonVariant = keyof typeof variants
export type ButtonSize = keyof typeof sizes

/** The look of a button, for links that look like one. */
export const buttonClass = (variant: ButtonVariant = 'primary', size: ButtonSize = 'md'): string =>
  cx(
    'inline-flex shrink-0 items-center justify-center rounded-md font-medium ' +
      'whitespace-nowrap transition-[background-color,filter,transform] duration-150 ' +
      'active:scale-[.985]',
    'disabled:pointer-events-none',
    variants[variant],
    sizes[size],
  )

/**
 * Makes a press do nothing. Enter in a field presses its form's button, so this also stops the
 * submit.
 */
export const refuse = (event: SyntheticEvent): void => {
  event.preventDefault()
  event.stopPropagation()
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: ButtonVariant
  size?: ButtonSize
  /**
   * Shows a spinner and refuses presses, without changing the button's width. Unlike a `disabled`
   * button it keeps the focus, so after an error the user can press again.
   */
  busy?: boolean
  /** False: the button is not rendered, because the user may not do what it does. */
  shown?: boolean
  ref?: Ref<HTMLButtonElement>
}

export function Button({
  variant,
  size,
  busy = false,
  className,
  type = 'button',
  disabled,
  shown = true,
  children,
  ...rest
}: ButtonProps) {
  if (!shown) return null
  const off = disabled && !busy
  return (
    <button
      type={type}
      // A disabled button often says what is missing, so its text stays readable.
      className={cx(
        buttonClass(variant, size),
        'relative',
        off && idle[variant ?? 'primary'],
        className,
      )}
      disabled={off}
      {...rest}
      {...(busy && { 'aria-busy': true, 'aria-disabled': true, onClick: refuse })}
    >
      {busy ? <span aria-hidden className="spinner absolute" /> : null}
      {busy ? (
        <span className="inline-flex items-center gap-2 opacity-0">{children}</span>
      ) : (
        children
      )}
    </button>
  )
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string
  size?: string
  ref?: Ref<HTMLButtonElement>
}

export function IconButton({
  label,
  size = 'size-9',
  className,
  children,
  ...rest
}: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={cx(
        'grid shrink-0 place-items-center rounded-md text-ink-2 transition-colors ' +
          'hover:bg-subtle hover:text-ink',
        size,
        className,
      )}
      {...rest}
    >
      {children}
    </button>
  )
}
