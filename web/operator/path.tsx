/** The desk's addresses. There are few, so it uses the browser's history without a router. */
import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent, type Ref } from 'react'

const listeners = new Set<() => void>()
const tell = () => {
  for (const listener of listeners) listener()
}
addEventListener('popstate', tell)

/** The path after /operator, without a slash at the end: '' or '/customers/…'. */
const here = (): string => location.pathname.replace(/^\/operator/, '').replace(/\/$/, '')
const query = (): string => location.search

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
export const useDeskPath = (): string => useSyncExternalStore(subscribe, here)
export const useDeskQuery = (): URLSearchParams =>
  new URLSearchParams(useSyncExternalStore(subscribe, query))

export function go(to: string, replace = false): void {
  if (replace) history.replaceState(null, '', `/operator${to}`)
  else history.pushState(null, '', `/operator${to}`)
  tell()
  if (replace) return
  window.scrollTo(0, 0)
  requestAnimationFrame(() => document.querySelector<HTMLElement>('h1')?.focus())
}

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  to: string
  ref?: Ref<HTMLAnchorElement> | undefined
}
/** A real link, so that it can be opened in a new tab. */
export function DeskLink({ to, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    go(to)
  }
  return (
    <a href={`/operator${to}`} onClick={follow} {...rest}>
      {children}
    </a>
  )
}
