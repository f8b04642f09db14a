import { useTexts } from '../i18n/index.ts'

/** The texts of the card screens. */
export const useCardTexts = () => useTexts('cards').cards
