/**
 * Loads a screen's chunk. After a new version is deployed the old chunks are gone: the page reloads once, by itself, and finds the
 * new ones. If that does not help, /pages/error500 says so and offers to try again.
 */
const mark = 'chunkReload'

/** Only a real navigation may reload: a chunk fetched ahead, because the pointer rests on a link, may fail in silence. */
export const navigation = { underWay: true }

export async function loadScreen<F>(file: () => Promise<F>): Promise<F> {
  try {
    const loaded = await file()
    sessionStorage.removeItem(mark)
    return loaded
  } catch (error) {
    if (!navigation.underWay) throw error
    const here = location.pathname + location.search
    if (sessionStorage.getItem(mark) === here) {
      sessionStorage.removeItem(mark)
      location.replace(`/pages/error500?from=${encodeURIComponent(here)}`)
    } else {
      sessionStorage.setItem(mark, here)
      location.reload()
    }
    // The document is about to go: nothing more is drawn in it.
    return new Promise<never>(() => {})
  }
}
