import { loadTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'

/** Loads a dialog and its texts when it is first opened. */
export const loadPart = <F>(file: () => Promise<F>): Promise<F> =>
  loadWanted(async () => (await Promise.all([file(), loadTexts('dnsParts')]))[0])
