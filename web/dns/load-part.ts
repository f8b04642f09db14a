import { loadTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'

/** A dialog and its texts: fetched when it is first opened. */
export const loadPart = <F>(file: () => Promise<F>): Promise<F> =>
  loadWanted(async () => (await Promise.all([file(), loadTexts('dnsParts')]))[0])
