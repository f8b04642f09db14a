/** The operator's name, as the server wrote it into the page. */
export const brand =
  document.querySelector<HTMLMetaElement>('meta[name="brand"]')?.content ?? 'Let’s Panel'
