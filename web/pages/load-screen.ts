/**
 * Loads a screen's chunk. After a new version is deployed the old chunks are gone: the page reloads once, by itself, and finds the
 * new ones. If that does not help, /pages/error500 says so and offers to try again.
 */
import { ending, session } from '../session.ts'

const mark = 'chunkReload'
/** What fails at the same address within so long is not helped by a reload, whatever else was found meanwhile. */
const onceInMs = 5 * 60_000

/** Only a real navigation may reload: a chunk fetched ahead, because the pointer rests on a link, may fail in silence. */
export const navigation = { underWay: true }

export async function loadScreen<F>(file: () => Promise<F>): Promise<F> {
  try {
    return await file()
  } catch (error) {
    if (!navigation.underWay) throw error
    return await startOver()
  }
}

/** The same for a part of the screen that somebody has asked for: a tab, a dialog. Without a connection it waits for one. */
export async function loadWanted<F>(file: () => Promise<F>): Promise<F> {
  for (;;) {
    try {
      return await file()
    } catch {
      if (navigator.onLine) return await startOver()
      await new Promise((resolve) => addEventListener('online', resolve, { once: true }))
    }
  }
}

function startOver(): Promise<never> {
  // What is typed waits for the customer to come back.
  ending.keep(session.user()?.id)
  const here = location.pathname + location.search
  const [since, where] = sessionStorage.getItem(mark)?.split(' ') ?? []
  if (where === here && Date.now() - Number(since) < onceInMs) {
    sessionStorage.removeItem(mark)
    location.replace(`/pages/error500?from=${encodeURIComponent(here)}`)
  } else {
    sessionStorage.setItem(mark, `${Date.now()} ${here}`)
    location.reload()
  }
  // The document is about to go: nothing more is drawn in it.
  return new Promise<never>(() => {})
}
