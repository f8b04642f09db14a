import { useCallback, useEffect, useState, type ComponentType } from 'react'
import { flushSync } from 'react-dom'
import { loadTexts } from '../i18n/index.ts'
import { loadScreen } from '../pages/load-screen.ts'
import { holdKeys, type HeldKeys } from './held-keys.ts'

type View = ComponentType<{ held: HeldKeys; onClose: () => void }>
type State = { is: 'closed' } | { is: 'coming' } | { is: 'open'; View: View; held: HeldKeys }

const closed: State = { is: 'closed' }
let loaded: Promise<View> | undefined
/** Once for the page; one that failed is fetched anew. */
function load(): Promise<View> {
  loaded ??= Promise.all([import('./Palette.tsx'), loadTexts('palette')]).then(([file]) => file.default)
  loaded.catch(() => (loaded = undefined))
  return loaded
}

/**
 * The palette, and the keys that open it. It is fetched when a hand comes near: at the Control or Command key that goes before the K, or when
 * `prepare` is called. Whoever goes on typing before it is there finds the letters in it.
 */
export function usePalette() {
  const [state, setState] = useState<State>(closed)
  const close = useCallback(() => setState(closed), [])
  const open = useCallback(() => setState((now) => (now.is === 'closed' ? { is: 'coming' } : now)), [])
  const prepare = useCallback(() => void load().catch(() => undefined), [])

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Control' || event.key === 'Meta') prepare()
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        open()
      }
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [open, prepare])

  useEffect(() => {
    if (state.is !== 'coming') return
    let wanted = true
    const held = holdKeys(close)
    // Offline the page says so already, and a reload would lose it.
    void (navigator.onLine ? loadScreen(load) : load()).then(
      (View) => {
        if (!wanted) return
        wanted = false
        // At once: between its drawing and its showing no key may fall.
        flushSync(() => setState({ is: 'open', View, held }))
      },
      () => wanted && close(),
    )
    return () => {
      if (wanted) held.release()
      wanted = false
    }
  }, [state, close])

  return {
    open,
    prepare,
    palette: state.is === 'open' ? <state.View held={state.held} onClose={close} /> : null,
  }
}
