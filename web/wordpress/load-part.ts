import { loadTexts, type TextGroup } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'

/** Loads a part of a server's page with its texts: those shared by such parts, or its own group. */
export const loadPart = <F>(file: () => Promise<F>, group: TextGroup = 'parts'): Promise<F> =>
  loadWanted(async () => (await Promise.all([file(), loadTexts(group)]))[0])
