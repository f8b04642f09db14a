import { lazy, Suspense, useEffect, useState, type ComponentType } from 'react'
import { flushSync } from 'react-dom'
import { loadTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { useMe } from '../queries.ts'
import { session } from '../session.ts'
import { afterPress } from '../ui/after-frame.ts'
import type { HeldKeys } from './held-keys.ts'
import { watchIdle } from './idle-lock.ts'

/** Nobody has asked for this bar, so if its chunk cannot be loaded, it is left out. */
const StatusBar = lazy(() =>
  import('../status/StatusBar.tsx').catch(() => ({ default: () => null })),
)

/** For those who may work in another's account. */
const Switcher = lazy(() => import('../team/Switcher.tsx').catch(() => ({ default: () => null })))

type View = ComponentType<{ held: HeldKeys; onClose: () => void }>

let loaded: Promise<View> | undefined
/** Loaded once per page; after a failure it is tried again. */
function load(): Promise<View> {
  // The palette also lists the parts of servers, so it needs their names.
  loaded ??= Promise.all([import('./Palette.tsx'), loadTexts('palette'), loadTexts('site')]).then(
    ([file]) => file.default,
  )
  loaded.catch(() => (loaded = undefined))
  return loaded
}

export interface AfterStartProps {
  /**
   * The palette is likely to be opened soon: the pointer is on its button, or Ctrl or Command was
   * pressed.
   */
  preload: boolean
  /** The palette was opened; the keys that were pressed since. */
  held: HeldKeys | undefined
  onClose: () => void
}

/** Loaded soon after the frame: locks an idle screen, shows the palette and status notices. */
export default function AfterStart({ preload, held, onClose }: AfterStartProps) {
  const [View, setView] = useState<View>()
  const { accounts } = useMe()
  // A view or acting tab has no password for unlocking.
  useEffect(() => (session.view() === null ? watchIdle() : undefined), [])
  useEffect(() => {
    if (preload) void load().catch(() => undefined)
  }, [preload])
  useEffect(() => {
    if (held === undefined) return
    const show = async () => {
      // Without a connection `loadWanted` is not used: the page already shows that it is offline,
      // and a reload would lose it.
      const view = await (navigator.onLine ? loadWanted(load) : load())
      // Rendering would delay the key's release event; keys typed meanwhile are held.
      await afterPress()
      // Synchronously, so that no key is lost between rendering and showing.
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
