/** The desk's language: English or Vietnamese, stored under the portal's own key. */
import { useSyncExternalStore } from 'react'
import { enOperator, type OperatorTexts } from '../i18n/en-operator.ts'
import { viOperator } from '../i18n/vi-operator.ts'

export type DeskLanguage = 'en' | 'vi'
const texts: Record<DeskLanguage, OperatorTexts> = { en: enOperator, vi: viOperator }

function preferred(): DeskLanguage {
  let stored: string | null = null
  try {
    stored = localStorage.getItem('language')
  } catch {
    // Storage may be blocked; then the browser's language decides.
  }
  return (stored ?? navigator.language).toLowerCase().startsWith('vi') ? 'vi' : 'en'
}
let active = preferred()
const listeners = new Set<() => void>()

export function setDeskLanguage(language: DeskLanguage): void {
  active = language
  document.documentElement.lang = language
  try {
    localStorage.setItem('language', language)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  for (const listener of listeners) listener()
}
export const deskLanguage = (): DeskLanguage => active
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
export const useDeskLanguage = (): DeskLanguage => useSyncExternalStore(subscribe, deskLanguage)
export const useDeskTexts = (): OperatorTexts => texts[useDeskLanguage()]
export const deskTexts = (): OperatorTexts => texts[active]

/** yyyy-MM-dd HH:mm:ss in the browser's time zone. */
export const timeOf = (when: string): string => new Date(when).toLocaleString('sv-SE')
export const dayOf = (when: string): string => timeOf(when).slice(0, 10)
