import { lazy, Suspense, useEffect, useState, type ComponentType } from 'react'
import { flushSync } from 'react-dom'
import { loadTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { useMe } from '../queries.ts'
import { session } from '../session.ts'
import { afterPress } from '../ui/after-frame.ts'
import type { HeldKeys } from './held-keys.ts'
import { watchIdle } from './idle-lock.ts'

/** Nobody has asked for it: where it cannot be had, there is none. */
const StatusBar = lazy(() =>
  import('../status/StatusBar.tsx').catch(() => ({ default: () => null })),
)

/** For those who work in the account of another. */
const Switcher = lazy(() => import('../team/Switcher.tsx').catch(() => ({ default: () => null })))

type View = ComponentType<{ held: HeldKeys; onClose: () => void }>

let loaded: Promise<View> | undefined
/** Once for the page; one that failed is fetched anew. */
function load(): Promise<View> {
  // It names the parts of servers, too.
  loaded ??= Promise.all([import('./Palette.tsx'), loadTexts('palette'), loadTexts('site')]).then(
    ([file]) => file.default,
  )
  loaded.catch(() => (loaded = undefined))
  return loaded
}

export interface AfterStartProps {
  /**
   * The palette is likely to be opened soon: the pointer is on its button, or the key before the K
   * was pressed.
   */
  preload: boolean
  /** The palette was opened, with the keys that were pressed since. */
  held: HeldKeys | undefined
  onClose: () => void
}

/** Loaded soon after the frame: locks an idle screen, shows the palette and what is announced. */
export default function AfterStart({ preload, held, onClose }: AfterStartProps) {
  const [View, setView] = useState<View>()
  const { accounts } = useMe()
  // Who only looks has no password to unlock it with.
  useEffect(() => (session.view() === null ? watchIdle() : undefined), [])
  useEffect(() => {
    if (preload) void load().catch(() => undefined)
  }, [preload])
  useEffect(() => {
    if (held === undefined) return
    const show = async () => {
      // Offline the page says so already, and a reload would lose it.
      const view = await (navigator.onLine ? loadWanted(load) : load())
      // The release of the K would wait for its drawing; what is typed meanwhile is held.
      await afterPress()
      // Shown at once: between its drawing and its showing no key may fall.
      flushSync(() => setView(() => view))
    }
    show().catch(onClose)
  }, [held, onClose])
  return (
    <>
      <Suspense fallback={null}>
        <StatusBar />
      </Suspense>
      {accounts > 0 ? (
        <Suspense fallback={null}>
          <Switcher />
        </Suspense>
      ) : null}
      {held && View ? <View held={held} onClose={onClose} /> : null}
    </>
  )
}
