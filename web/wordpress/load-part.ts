import { loadTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'

/** A part of a server's page in a chunk of its own, with the texts of such parts. */
export const loadPart = <F>(file: () => Promise<F>): Promise<F> =>
  loadWanted(async () => (await Promise.all([file(), loadTexts('parts')]))[0])
