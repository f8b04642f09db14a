import { Check, type LucideIcon } from 'lucide-react'
import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react'
import { afterFrame } from './after-frame.ts'
import { cx } from './cx.ts'

export interface MenuItem {
  label: string
  icon?: LucideIcon | undefined
  lead?: ReactNode
  onSelect: () => void
  /** Set on every item of a menu that chooses one of several. */
  checked?: boolean
  danger?: boolean
  hint?: string
  /** False: the item is left out, because the user may not do it. */
  shown?: boolean
}

interface PopoverProps {
  label: string
  trigger: ReactNode
  className?: string
  /** With items, a menu with roving focus; with children, a small dialog. */
  items?: readonly MenuItem[]
  children?: (close: () => void) => ReactNode
  onOpen?: () => void
  side?: 'below' | 'above'
}

const gap = 6

/**
 * A menu or panel on the native popover: light dismiss, Esc and the return of focus come from the
 * browser.
 */
export function Menu({
  label,
  trigger,
  className,
  items: all,
  children,
  onOpen,
  side = 'below',
}: PopoverProps) {
  const id = useId()
  const panel = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const items = all?.filter(({ shown }) => shown !== false)
  const choosing = items?.some((item) => item.checked !== undefined) ?? false
  const close = () => document.getElementById(id)?.hidePopover()

  const place = () => {
    if (!panel.current || !button.current) return
    const at = button.current.getBoundingClientRect()
    const width = document.documentElement.clientWidth
    const right = Math.max(8, width - at.right)
    const most = Math.max(8, width - panel.current.offsetWidth - 8)
    panel.current.style.right = `${Math.min(right, most)}px`
    if (side === 'below') panel.current.style.top = `${at.bottom + gap}px`
    else panel.current.style.bottom = `${window.innerHeight - at.top + gap}px`
  }

  const entries = () => [
    ...(panel.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? []),
  ]

  const onToggle = (open: boolean) => {
    button.current?.setAttribute('aria-expanded', String(open))
    if (!open) return
    place()
    onOpen?.()
    if (items) (entries().find((entry) => entry.ariaChecked === 'true') ?? entries()[0])?.focus()
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (!items) return
    const list = entries()
    const now = list.indexOf(document.activeElement as HTMLElement)
    const move = (to: number) => {
      event.preventDefault()
      list[(to + list.length) % list.length]?.focus()
    }
    if (event.key === 'ArrowDown') move(now + 1)
    else if (event.key === 'ArrowUp') move(now - 1)
    else if (event.key === 'Home') move(0)
    else if (event.key === 'End') move(-1)
    else if (event.key === 'Tab') close()
    else if (event.key.length === 1) {
      const found = list.findIndex(
        (entry, index) =>
          index > now &&
          entry.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase()),
      )
      if (found >= 0) move(found)
    }
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        popoverTarget={id}
        aria-haspopup={items ? 'menu' : 'dialog'}
        aria-expanded="false"
        aria-label={label}
        title={label}
        className={className}
      >
        {trigger}
      </button>
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div
        ref={panel}
        id={id}
        popover="auto"
        role={items ? 'menu' : 'dialog'}
        aria-label={label}
        onToggle={(event) => onToggle(event.nativeEvent.newState === 'open')}
        onKeyDown={onKeyDown}
        className={cx(
          'fixed rounded-lg bg-raised text-ink shadow-pop',
          items ? 'min-w-52 p-1' : 'w-[min(94vw,380px)]',
        )}
      >
        {items?.map((item) => (
          <button
            key={item.label}
            type="button"
            role={choosing ? 'menuitemradio' : 'menuitem'}
            aria-checked={choosing ? item.checked === true : undefined}
            tabIndex={-1}
            onClick={() => {
              close()
              // The menu disappears at once, however long the choice takes to render.
              void afterFrame().then(item.onSelect)
            }}
            className={cx(
              'flex h-10 w-full items-center gap-2.5 rounded-md px-2.5 text-left text-sm ' +
                'hover:bg-subtle focus:bg-subtle focus:outline-none sm:h-9 ' +
                'dark:hover:bg-white/6 dark:focus:bg-white/6',
              item.danger && 'text-danger',
            )}
          >
            {item.icon ? (
              <item.icon
                aria-hidden
                className={cx('size-4', item.danger ? 'text-danger' : 'text-ink-3')}
                strokeWidth={1.75}
              />
            ) : (
              item.lead
            )}
            <span className="flex-1">{item.label}</span>
            {item.checked ? <Check aria-hidden className="size-4 text-primary-ink" /> : null}
            {item.hint ? <kbd className="font-sans text-xs text-ink-3">{item.hint}</kbd> : null}
          </button>
        ))}
        {children?.(close)}
      </div>
    </>
  )
}
