import { useEffect, useRef, useState, type ReactNode } from 'react'
import { Button } from '../ui/Button.tsx'
import { Dialog, type DialogProps } from '../ui/Dialog.tsx'
import { focusFirstField } from '../ui/modal.ts'

export interface TypedFrameProps extends Omit<DialogProps, 'open' | 'onLeave' | 'footer'> {
  /** Closing would lose typed text, so the dialog asks first. */
  isTyped: boolean
  words: { readonly ask: string; readonly discard: string; readonly goOn: string }
  /** Gets the function that leaves the dialog, which asks as well. */
  footer: (leave: () => void) => ReactNode
}

/**
 * A dialog for much typed text. Once something is typed, a press outside does nothing, and every
 * other way out asks first. Esc returns from that question to the form.
 */
export function TypedFrame({
  isTyped,
  words: t,
  footer,
  children,
  onClose,
  ...rest
}: TypedFrameProps) {
  const body = useRef<HTMLDivElement>(null)
  const [before, setBefore] = useState<Element | null>(null)
  const [wasAsked, setWasAsked] = useState(false)
  const asking = wasAsked && isTyped
  const leave = () => {
    if (!isTyped) return onClose()
    // While the question is shown, another attempt to leave does not answer it.
    if (asking) return
    setBefore(document.activeElement)
    setWasAsked(true)
  }
  useEffect(() => {
    const dialog = body.current?.closest('dialog')
    if (!asking || !dialog) return
    return () => {
      // If the question replaced the focused element, that no longer exists.
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
    // Browsers let a page prevent only the first Esc: at the second they close the dialog anyway.
    // Preventing the keydown event avoids that.
    const hear = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return
      // An event of a dialog above this one is ignored.
      const at = event.target as Node
      if (at !== document.body && body.current?.closest('dialog')?.contains(at) !== true) return
      event.preventDefault()
      onEscape.current()
    }
    document.addEventListener('keydown', hear)
    return () => document.removeEventListener('keydown', hear)
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
