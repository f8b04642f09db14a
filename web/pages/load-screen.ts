/**
 * Loads a screen's chunk. After a new version is deployed the old chunks are gone: the page reloads
 * once, by itself, and finds the new ones. If that does not help, /pages/error500 says so and
 * offers to try again. A chunk that could not be fetched is reloaded for, too: browsers keep to a
 * module's first failure for as long as the document lives (HTML, "fetch a single module script").
 */
import { currentTexts } from '../i18n/index.ts'
import { ending, session } from '../session.ts'
import { toast } from '../ui/toast.ts'

const mark = 'chunkReload'
/**
 * A second failure at the same address within this time is not helped by another reload, even if
 * other chunks loaded meanwhile.
 */
const onceInMs = 5 * 60_000

/**
 * Only a real navigation may reload the page. A chunk that is prefetched because the pointer rests
 * on a link may fail silently.
 */
export const navigation = { underWay: true }

export async function loadScreen<F>(file: () => Promise<F>): Promise<F> {
  for (;;) {
    try {
      return await file()
    } catch (error) {
      if (!navigation.underWay) throw error
      await connection()
    }
  }
}

/** The same for a part of the screen that the user asked for: a tab, a dialog. */
export async function loadWanted<F>(file: () => Promise<F>): Promise<F> {
  for (;;) {
    try {
      return await file()
    } catch {
      await connection()
    }
  }
}

const askEveryMs = 3000

/** Whether the portal answers at all. */
const isReachable = (): Promise<boolean> =>
  fetch('/healthz', { cache: 'no-store' }).then(
    () => true,
    () => false,
  )

/**
 * If the portal answers, the chunk is gone and the page is reloaded. If it does not, a reload would
 * end at the browser's own error page: the screen stays, shows a message, and continues once the
 * connection is back.
 */
async function connection(): Promise<void> {
  if (await isReachable()) return await startOver()
  toast.error(currentTexts().toast.error, currentTexts().common.noConnection)
  do {
    const online = new Promise((resolve) => addEventListener('online', resolve, { once: true }))
    await Promise.race([online, new Promise((resolve) => setTimeout(resolve, askEveryMs))])
  } while (!(await isReachable()))
}

let leaving: Promise<never> | undefined
/** The document is reloaded once, however many of its chunks fail. */
const startOver = (): Promise<never> => (leaving ??= leave())

function leave(): Promise<never> {
  // Typed text is stored until the customer comes back.
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
  // The document is about to be left, so nothing more is rendered in it.
  return new Promise<never>(() => {})
}
