/** The active language. Only its texts are downloaded; a change loads the other file first and then swaps. */
import { useSyncExternalStore } from 'react'
import type { Texts } from './en.ts'

export type { Texts }
export const languages = ['en', 'vi', 'aud'] as const
export type Language = (typeof languages)[number]

const loaders: Record<Language, () => Promise<Texts>> = {
  en: () => import('./en.ts').then((file) => file.en),
  vi: () => import('./vi.ts').then((file) => file.vi),
  aud: () => import('./aud.ts').then((file) => file.aud),
}

interface Active {
  language: Language
  texts: Texts
}
let active: Active | undefined
const listeners = new Set<() => void>()

export const isLanguage = (value: unknown): value is Language => languages.some((language) => language === value)

/** The choice of an earlier visit, else what the browser asks for. */
export function preferredLanguage(): Language {
  let stored: string | null = null
  try {
    stored = localStorage.getItem('language')
  } catch {
    // Storage may be closed to us: the browser's languages decide.
  }
  if (isLanguage(stored)) return stored
  const first = navigator.language.toLowerCase()
  if (first.startsWith('vi')) return 'vi'
  return first === 'en-au' ? 'aud' : 'en'
}

export async function setLanguage(language: Language, keep = true): Promise<void> {
  const texts = await loaders[language]()
  active = { language, texts }
  document.documentElement.lang = localeOf(language)
  if (keep) {
    try {
      localStorage.setItem('language', language)
    } catch {
      // The choice then lasts as long as the page.
    }
  }
  for (const listener of listeners) listener()
}

const localeOf = (language: Language): string => (language === 'aud' ? 'en-AU' : language)

/** The language of the contract's sentences: Australian English is English there. */
export const sentenceLanguage = (language: Language): 'en' | 'vi' => (language === 'vi' ? 'vi' : 'en')

/** Which language a region's customers read (portal.md section 4). */
export const languageOfRegion = (region: string): Language => (region === 'VN' ? 'vi' : region === 'AUD' ? 'aud' : 'en')

function current(): Active {
  if (!active) throw new Error('A language is loaded before anything is drawn')
  return active
}
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const currentLanguage = (): Language => active?.language ?? preferredLanguage()
export const currentTexts = (): Texts => current().texts
export const useLanguage = (): Language => useSyncExternalStore(subscribe, current).language
export const useTexts = (): Texts => useSyncExternalStore(subscribe, current).texts
