import { useEffect } from 'react'
import { onOutage } from '../api.ts'
import { enTyped } from '../i18n/en-typed.ts'
import { useLanguage } from '../i18n/index.ts'
import { viTyped } from '../i18n/vi-typed.ts'
import { TypedFrame, type TypedFrameProps } from './TypedFrame.tsx'

/** A dialog for much typed text, which asks before that is lost, in the customer's language. */
export function TypedDialog({ isTyped, ...rest }: Omit<TypedFrameProps, 'words'>) {
  // Only few dialogs are of this kind, so these texts are in their chunk.
  const words = useLanguage() === 'vi' ? viTyped : enTyped
  useEffect(() => {
    if (!isTyped) return
    // An overloaded server does not take the user away from this dialog: page forms are stored
    // (drafts.ts), but a dialog's text would be lost. Maintenance still does.
    const { unavailable } = onOutage
    onOutage.unavailable = (failure, endpoint) => {
      if (failure.code === 'maintenance') unavailable(failure, endpoint)
    }
    return () => void (onOutage.unavailable = unavailable)
  }, [isTyped])

  return <TypedFrame {...rest} isTyped={isTyped} words={words} />
}
