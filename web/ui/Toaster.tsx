import { CircleAlert, CircleCheck } from 'lucide-react'
import { createRoot } from 'react-dom/client'
import { flushSync } from 'react-dom'
import { Toaster, toast } from 'sonner'
import { useNarrow } from './narrow.ts'

let mounted = false
let layer: HTMLElement | undefined

/** The layer that was opened last is on top, so it is opened again to be above a newer dialog. */
function raise() {
  if (layer?.matches(':popover-open')) layer.hidePopover()
  layer?.showPopover()
}

/** The toaster has a React root of its own, so that no screen has to render it. */
function mount() {
  if (mounted) return
  mounted = true
  const host = document.body.appendChild(document.createElement('div'))
  host.className = 'no-print toast-layer'
  // In the top layer, above any open dialog.
  host.popover = 'manual'
  layer = host
  flushSync(() => createRoot(host).render(<Layer />))
}

/** Pixels from the top, below the header. */
const underHeader = 64

/**
 * Toasts appear in the corner. On phones they appear at the top, because the results of a press
 * (advice in a sheet, an error under a field, the button to press again) are at the bottom there,
 * and a toast would cover them.
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

export function present(
  kind: 'success' | 'error' | 'lasting error',
  title: string,
  text: string,
  duration: number,
) {
  mount()
  raise()
  const id = `${kind} ${title} ${text}`
  if (kind === 'error') errors.add(id)
  const isError = kind !== 'success'
  const Icon = isError ? CircleAlert : CircleCheck
  toast.custom(
    () => (
      <div
        role={isError ? 'alert' : 'status'}
        className={
          'flex w-full gap-3 rounded-lg font-sans bg-raised p-4 text-ink shadow-pop ' +
          'sm:w-[356px]'
        }
      >
        <Icon
          aria-hidden
          className={isError ? 'size-5 shrink-0 text-danger' : 'size-5 shrink-0 text-success'}
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
