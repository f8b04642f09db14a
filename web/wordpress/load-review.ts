import { loadTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'

/** Loads a part of the order that comes after its form, with the texts of these parts. */
export const loadWithReview = <F>(file: () => Promise<F>): Promise<F> =>
  loadWanted(async () => (await Promise.all([file(), loadTexts('review')]))[0])
