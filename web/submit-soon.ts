import { useEffect, useRef, type RefObject } from 'react'

/** Long enough that somebody who presses the button sends the form, and not this. */
const pauseMs = 500

/**
 * Sends a form by itself soon after its code is whole, unless it was sent or changed meanwhile: a
 * button that is pressed must not vanish under the finger. `isWhole` is asked when the
 * pause ends.
 */
export function useSubmitSoon(
  form: RefObject<HTMLFormElement | null>,
  isWhole: (form: HTMLFormElement) => boolean,
): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    const current = form.current
    const stop = () => clearTimeout(timer.current)
    current?.addEventListener('submit', stop)
    return () => {
      stop()
      current?.removeEventListener('submit', stop)
    }
  }, [form])
  return () => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      if (form.current && isWhole(form.current)) form.current.requestSubmit()
    }, pauseMs)
  }
}
