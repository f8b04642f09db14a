import { CircleAlert, CircleCheck } from 'lucide-react'
import { createRoot } from 'react-dom/client'
import { flushSync } from 'react-dom'
import { Toaster, toast } from 'sonner'
import { useNarrow } from './narrow.ts'

let mounted = false
let layer: HTMLElement | undefined

/**
 * The layer that was opened last lies on top: it is opened anew, over a dialog that has come since.
 */
function raise() {
  if (layer?.matches(':popover-open')) layer.hidePopover()
  layer?.showPopover()
}

/** The toaster lives in a root of its own, so that no screen has to carry it. */
function mount() {
  if (mounted) return
  mounted = true
  const host = document.body.appendChild(document.createElement('div'))
  host.className = 'no-print toast-layer'
  // In the top layer, above whatever dialog is open.
  host.popover = 'manual'
  layer = host
  flushSync(() => createRoot(host).render(<Layer />))
}

/** Pixels: under the header. */
const underHeader = 64

/**
 * In the corner; on phones at the top, for what a press brings about (an advice in a sheet, a
 * complaint under a field, the button to press again) stands at the bottom there, and a toast would
 * lie on it for its seconds.
 */
function Layer() {
  const isNarrow = useNarrow()
  return (
    <Toaster
      position={isNarrow ? 'top-center' : 'bottom-right'}
      offset={isNarrow ? { top: underHeader } : 24}
      mobileOffset={{ top: underHeader }}
      gap={10}
      visibleToasts={4}
    />
  )
}

export function present(kind: 'success' | 'error', title: string, text: string, duration: number) {
  mount()
  raise()
  const id = `${kind} ${title} ${text}`
  if (kind === 'error') errors.add(id)
  const Icon = kind === 'error' ? CircleAlert : CircleCheck
  toast.custom(
    () => (
      <div
        role={kind === 'error' ? 'alert' : 'status'}
        className={
          'flex w-full gap-3 rounded-lg font-sans bg-raised p-4 text-ink shadow-pop ' +
          'sm:w-[356px]'
        }
      >
        <Icon
          aria-hidden
          className={
            kind === 'error' ? 'size-5 shrink-0 text-danger' : 'size-5 shrink-0 text-success'
          }
          strokeWidth={1.9}
        />
        <div className="min-w-0 text-sm">
          <p className="font-semibold">{title}</p>
          {text === '' ? null : <p className="mt-0.5 text-ink-2">{text}</p>}
        </div>
      </div>
    ),
    // The same again is no second one: its time begins anew.
    { duration, id },
  )
}

/** Ids of errors that were shown. */
const errors = new Set<string>()
export function dismissErrors() {
  for (const id of errors) toast.dismiss(id)
  errors.clear()
}

export function dismissAll() {
  if (mounted) toast.dismiss()
}
