const meta = (name: string): string | undefined => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content

/** The operator's name and logo, as the server wrote them into the page. */
export const brand = meta('brand') ?? 'Let’s Panel'
export const brandLogo = meta('brand-logo')
