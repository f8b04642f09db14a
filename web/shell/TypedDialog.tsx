import { onOutage } from '../api.ts'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { enTyped } from '../i18n/en-typed.ts'
import { useLanguage } from '../i18n/index.ts'
import { viTyped } from '../i18n/vi-typed.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog, type DialogProps } from '../ui/Dialog.tsx'
import { focusFirstField } from '../ui/modal.ts'

interface TypedDialogProps extends Omit<DialogProps, 'open' | 'onLeave' | 'footer'> {
  /** Closing would lose something: it is asked about first. */
  isTyped: boolean
  /** Is given the way out, which asks as well. */
  footer: (leave: () => void) => ReactNode
}

/**
 * A dialog in which somebody types much. A press beside it does nothing once something is typed,
 * and every other way out asks; Esc goes from that question back to what is typed.
 */
export function TypedDialog({ isTyped, footer, children, onClose, ...rest }: TypedDialogProps) {
  // Few dialogs are of this kind: the other pages do without these words.
  const t = useLanguage() === 'vi' ? viTyped : enTyped
  const body = useRef<HTMLDivElement>(null)
  const [before, setBefore] = useState<Element | null>(null)
  const [wasAsked, setWasAsked] = useState(false)
  const asking = wasAsked && isTyped
  const leave = () => {
    if (!isTyped) return onClose()
    // A second press is no answer.
    if (asking) return
    setBefore(document.activeElement)
    setWasAsked(true)
  }
  useEffect(() => {
    const dialog = body.current?.closest('dialog')
    if (!asking || !dialog) return
    return () => {
      // Where the question took the place of what had the focus, that is gone.
      if (before instanceof HTMLElement && dialog.contains(before)) before.focus()
      else focusFirstField(dialog)
    }
  }, [asking, before])

  const onEscape = useRef(() => {})
  useEffect(() => {
    onEscape.current = () => {
      if (asking) setWasAsked(false)
      else if (rest.busy !== true) leave()
    }
  })
  useEffect(() => {
    if (!isTyped) return
    // Browsers let a page refuse the first Esc alone: at the second they close the dialog, whatever
    // the page says. They do not where the key's own event is refused.
    const hear = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return
      // Of a dialog above this one.
      const at = event.target as Node
      if (at !== document.body && body.current?.closest('dialog')?.contains(at) !== true) return
      event.preventDefault()
      onEscape.current()
    }
    document.addEventListener('keydown', hear)
    return () => document.removeEventListener('keydown', hear)
  }, [isTyped])

  useEffect(() => {
    if (!isTyped) return
    // A server that is too busy for a while takes nobody away from here: the forms of pages are
    // kept (drafts.ts), and what stands in a dialog is gone with it. Maintenance does.
    const { unavailable } = onOutage
    onOutage.unavailable = (failure, endpoint) => {
      if (failure.code === 'maintenance') unavailable(failure, endpoint)
    }
    return () => void (onOutage.unavailable = unavailable)
  }, [isTyped])

  return (
    <Dialog
      {...rest}
      open
      onClose={onClose}
      onLeave={isTyped && rest.busy !== true ? leave : undefined}
      footer={
        asking ? (
          <div className="grid min-w-full gap-3">
            <p role="alert" className="text-sm font-medium">
              {t.ask}
            </p>
            <div className="flex flex-wrap justify-end gap-2">
              <Button variant="outline" onClick={onClose}>
                {t.discard}
              </Button>
              {/* oxlint-disable-next-line jsx-a11y/no-autofocus */}
              <Button autoFocus onClick={() => setWasAsked(false)}>
                {t.goOn}
              </Button>
            </div>
          </div>
        ) : (
          footer(leave)
        )
      }
    >
      <div ref={body} inert={asking}>
        {children}
      </div>
    </Dialog>
  )
}
