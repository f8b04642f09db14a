/** Toasts load with the first one that is shown: most visits never need them. */
type Kind = 'success' | 'error'

const duration = 8000

async function show(kind: Kind, title: string, text: string) {
  const toaster = await import('./Toaster.tsx')
  toaster.present(kind, title, text, duration)
}

export const toast = {
  success: (title: string, text: string) => void show('success', title, text),
  error: (title: string, text: string) => void show('error', title, text),
}
