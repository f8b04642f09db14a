import { useCallback, useEffect, type RefObject } from 'react'
import { afterPress } from './after-frame.ts'

const firstField =
  ':is(input:not([type=checkbox], [type=radio], [type=hidden]), select, textarea):enabled'
/** A user who opened a form is about to type. */
export const focusFirstField = (dialog: HTMLDialogElement | null): void =>
  dialog?.querySelector<HTMLElement>(firstField)?.focus()

/**
 * Opens and closes a native modal. To make the page behind inert, or active again, the browser
 * restyles all of its elements. So the press is answered first, and a dialog that is left is hidden
 * before that work begins. The focus returns to the element that had it, however the dialog is
 * left. The returned function closes the dialog and says whether it was open; while it is `held`,
 * only its owner can close it.
 */
export function useModal(ref: RefObject<HTMLDialogElement | null>, open: boolean, held = false) {
  const leave = useCallback(() => {
    const dialog = ref.current
    if (!dialog?.open || 'leaving' in dialog.dataset) return false
    dialog.dataset['leaving'] = ''
    void afterPress().then(() => {
      // The owner has opened it again meanwhile, so it stays open.
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
      // A dialog that its owner unmounted while open was never closed, so the focus was lost,
      // unless another element has taken it.
      if (document.activeElement === document.body && opener instanceof HTMLElement)
        opener.focus({ preventScroll: true })
    }
  }, [open, leave, ref])
  return useCallback(() => !held && leave(), [held, leave])
}
