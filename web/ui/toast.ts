/** The toaster is loaded with the first toast: most visits never need it. */
type Kind = 'success' | 'error'

const duration = 8000

let shown = false

async function show(kind: Kind, title: string, text: string, replacesErrors = false) {
  shown = true
  const toaster = await import('./Toaster.tsx')
  if (replacesErrors) toaster.dismissErrors()
  toaster.present(kind, title, text, duration)
}

/** After a success, earlier failures are no longer relevant. */
async function clear() {
  if (shown) (await import('./Toaster.tsx')).dismissAll()
}

export const toast = {
  /** What a press brought about: complaints of earlier attempts go. */
  success: (title: string, text: string) => void show('success', title, text, true),
  /** What happened by itself. */
  news: (title: string, text: string) => void show('success', title, text),
  clear: () => void clear(),
  error: (title: string, text: string) => void show('error', title, text),
}
