import { useCallback, useEffect, type RefObject } from 'react'
import { afterPress } from './after-frame.ts'

const firstField =
  ':is(input:not([type=checkbox], [type=radio], [type=hidden]), select, textarea):enabled'
/** A user who opened a form is about to type. */
export const focusFirstField = (dialog: HTMLDialogElement | null): void =>
  dialog?.querySelector<HTMLElement>(firstField)?.focus()

/**
 * Opens and closes a native modal. To make the page behind inert, and to wake it again, the browser
 * styles every element of it anew: the press that asks for it is answered first, and a dialog that
 * is left is out of sight before that work begins. Whoever had the focus gets it back, however the
 * dialog is left. The answer closes it, and says whether there was something to close; while it is
 * `held`, only its owner closes it.
 */
export function useModal(ref: RefObject<HTMLDialogElement | null>, open: boolean, held = false) {
  const leave = useCallback(() => {
    const dialog = ref.current
    if (!dialog?.open || 'leaving' in dialog.dataset) return false
    dialog.dataset['leaving'] = ''
    void afterPress().then(() => {
      // Its owner has opened it again meanwhile: it stays.
      if (!('leaving' in dialog.dataset)) return
      dialog.close()
      delete dialog.dataset['leaving']
    })
    return true
  }, [ref])
  useEffect(() => {
    if (!open) return void leave()
    let wanted = true
    let opener: Element | null
    delete ref.current?.dataset['leaving']
    void afterPress().then(() => {
      if (!wanted || ref.current?.open !== false) return
      opener = document.activeElement
      ref.current.showModal()
      // The browser focuses the first control, which is the close button.
      focusFirstField(ref.current)
    })
    return () => {
      wanted = false
      // One that its owner took away while it was open was never closed: the focus went with it,
      // unless somebody has it by now.
      if (document.activeElement === document.body && opener instanceof HTMLElement)
        opener.focus({ preventScroll: true })
    }
  }, [open, leave, ref])
  return useCallback(() => !held && leave(), [held, leave])
}
