import { X } from 'lucide-react'
import { useId, useRef, type ReactNode } from 'react'
import { IconButton, refuse } from './Button.tsx'
import { cx } from './cx.ts'
import { useModal } from './modal.ts'

export interface DialogProps {
  open: boolean
  onClose: () => void
  /**
   * The confirmed action is running and cannot be cancelled: nothing closes the dialog until its
   * response.
   */
  busy?: boolean
  /** Called instead of closing. A press outside the dialog then does nothing. */
  onLeave?: (() => void) | undefined
  title: string
  description?: string
  closeLabel: string
  /** `wide` for what has long lines, such as a file's text. */
  size?: 'wide'
  children?: ReactNode
  footer: ReactNode
}

/**
 * A native modal dialog: the page behind is inert, Esc closes it, the focus returns. On phones it
 * is a sheet from the bottom.
 */
export function Dialog({
  open,
  onClose,
  busy = false,
  onLeave,
  title,
  description,
  closeLabel,
  size,
  children,
  footer,
}: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  const close = useModal(ref, open, busy)
  const leave = onLeave ?? close
  const pressed = useRef<EventTarget>(null)
  return (
    /* oxlint-disable-next-line jsx-a11y/click-events-have-key-events,
       jsx-a11y/no-noninteractive-element-interactions */
    <dialog
      ref={ref}
      aria-labelledby={id}
      aria-describedby={description ? `${id}-text` : undefined}
      onClose={onClose}
      onCancel={(event) => {
        // A file field inside also fires `cancel`, when no file was chosen.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        leave()
      }}
      onSubmit={(event) => {
        // For a <form method="dialog"> the browser would close the dialog during the press.
        if ((event.target as HTMLFormElement).method !== 'dialog') return
        event.preventDefault()
        close()
      }}
      onPointerDown={(event) => {
        pressed.current = event.target
      }}
      onClick={({ target }) => {
        // Selecting text beyond the edge also ends in a click on the dialog, so the press must have
        // begun there too.
        if (!onLeave && target === ref.current && target === pressed.current) close()
      }}
      className={cx(
        size === 'wide' ? 'w-[min(94vw,1100px)]' : 'w-[min(94vw,520px)]',
        'max-h-[92dvh] scroll-pt-24 scroll-pb-24 overflow-y-auto rounded-2xl bg-raised p-0 ' +
          'text-ink shadow-dialog max-sm:mb-0 max-sm:w-full max-sm:max-w-full ' +
          'max-sm:rounded-b-none',
      )}
    >
      {/* Title and close button stay in view when the dialog scrolls. */}
      <div
        className={
          'sticky top-0 z-1 flex items-start justify-between gap-4 bg-raised p-5 pb-1 short:static'
        }
      >
        <h2 id={id} className="line-clamp-3 min-w-0 text-lg font-semibold wrap-anywhere">
          {title}
        </h2>
        <IconButton label={closeLabel} className="-mt-1 -mr-1.5" onClick={leave}>
          <X aria-hidden className="size-4" />
        </IconButton>
      </div>
      {description ? (
        <p id={`${id}-text`} className="px-5 text-sm text-ink-2">
          {description}
        </p>
      ) : null}
      <div className="px-5 pt-3 pb-1">{children}</div>
      {/* Not `disabled`: the button that was pressed keeps the focus. */}
      <fieldset
        aria-disabled={busy || undefined}
        onClickCapture={busy ? refuse : undefined}
        className={
          'sticky bottom-0 z-1 flex justify-end gap-2 bg-raised p-5 pt-4 short:static ' +
          'pb-[max(1.25rem,env(safe-area-inset-bottom))] max-sm:*:flex-1 ' +
          'aria-disabled:[&>:not([aria-busy])]:opacity-50'
        }
      >
        {footer}
      </fieldset>
    </dialog>
  )
}
