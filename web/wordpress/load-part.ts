import { loadTexts, type TextGroup } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'

/** A part of a server's page in a chunk of its own, with the texts of such parts, or its own. */
export const loadPart = <F>(file: () => Promise<F>, group: TextGroup = 'parts'): Promise<F> =>
  loadWanted(async () => (await Promise.all([file(), loadTexts(group)]))[0])
