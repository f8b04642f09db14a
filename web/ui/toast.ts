/** The toaster is loaded with the first toast: most visits never need it. */
type Kind = 'success' | 'error' | 'lasting error'

const duration = 8000

let shown = false

async function show(kind: Kind, title: string, text: string, replacesErrors = false) {
  shown = true
  const toaster = await import('./Toaster.tsx')
  if (replacesErrors) toaster.dismissErrors()
  toaster.present(kind, title, text, duration)
}

/** After a sign-in, nothing of before is relevant. */
async function clear() {
  if (shown) (await import('./Toaster.tsx')).dismissAll()
}

export const toast = {
  /** An act succeeded: errors of earlier attempts go. */
  success: (title: string, text: string) => void show('success', title, text, true),
  error: (title: string, text: string) => void show('error', title, text),
  /** Something happened by itself, and the error of something else stays. */
  news: (title: string, text: string) => void show('success', title, text),
  /** Something failed by itself: no later success of an act makes it irrelevant. */
  badNews: (title: string, text: string) => void show('lasting error', title, text),
  clear: () => void clear(),
}
