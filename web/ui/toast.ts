/** The toaster is loaded with the first toast: most visits never need it. */
type Kind = 'success' | 'error'

const duration = 8000

let shown = false

async function show(kind: Kind, title: string, text: string) {
  shown = true
  const toaster = await import('./Toaster.tsx')
  toaster.present(kind, title, text, duration)
}

/** After a success, earlier failures are no longer relevant. */
async function clear() {
  if (shown) (await import('./Toaster.tsx')).dismissAll()
}

export const toast = {
  success: (title: string, text: string) => void show('success', title, text),
  clear: () => void clear(),
  error: (title: string, text: string) => void show('error', title, text),
}
