import { enCards } from '../i18n/en-cards.ts'
import { sentenceLanguage, useLanguage } from '../i18n/index.ts'
import { viCards } from '../i18n/vi-cards.ts'

const texts = { en: enCards, vi: viCards }

/** The texts of the card screens, in the active language. */
export const useCardTexts = (): typeof enCards => texts[sentenceLanguage(useLanguage())]
