/**
 * The operator's name, colour and logo, written into the page before it is sent: nothing flashes in
 * other colours first.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { CatalogFault, type Catalog } from '../catalog/index.ts'

export interface Brand {
  readonly name: string
  /** #RRGGBB, or null for the portal's own. */
  readonly color: string | null
  readonly logo: { readonly type: string; readonly bytes: Buffer } | null
}

const types: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
}
const maxLogoBytes = 256 * 1024

/** Throws CatalogFault if the logo cannot be read. `folder`: the catalogue's folder. */
export function brandOf({ brand }: Catalog, folder: string): Brand {
  if (brand.logo === null) return { ...brand, logo: null }
  const file = path.resolve(folder, brand.logo)
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch {
    throw new CatalogFault(`brand.logo: the file ${file} cannot be read.`)
  }
  if (bytes.length > maxLogoBytes)
    throw new CatalogFault(`brand.logo: the file ${file} is larger than 256 KiB.`)
  return { ...brand, logo: { type: types[path.extname(file).toLowerCase()] ?? 'image/png', bytes } }
}

const escaped = (text: string): string =>
  text.replace(
    /[&<>"']/g,
    (sign) =>
      ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[sign] ?? sign,
  )

/** Shades of one colour for both themes; the measures are those between the portal's own. */
const shades = (color: string): string =>
  `:root{--primary:${color};--primary-hover:color-mix(in oklab,${color} ` +
  `88%,#000);--primary-ink:color-mix(in oklab,${color} 84%,#000);--primary-soft:color-mix(in ` +
  `oklab,${color} 9%,#fff)}` +
  (`html.dark,body.dark{--primary:${color};--primary-hover:color-mix(in oklab,${color} ` +
    `88%,#000);--primary-ink:color-mix(in oklab,${color} 40%,#fff);--primary-soft:color-mix(in ` +
    `oklab,${color} 28%,#11151e)}`)

/** The page of the build in the operator's dress. */
export function branded(html: string, { name, color, logo }: Brand): string {
  const head = [
    `<meta name="brand" content="${escaped(name)}">`,
    ...(logo ? ['<meta name="brand-logo" content="/brand/logo">'] : []),
    ...(color === null ? [] : [`<style>${shades(color)}</style>`]),
  ].join('')
  let page = html
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(name)}</title>`)
    .replace('</head>', () => `${head}</head>`)
  if (color !== null) page = page.replaceAll('fill="#4361EE"', `fill="${color}"`)
  if (logo)
    page = page
      .replace(/<link rel="icon"[^>]*>/, `<link rel="icon" href="/brand/logo" type="${logo.type}">`)
      // The picture of a page that is still loading.
      .replace(
        /<svg viewBox="0 0 32 32"[^>]*>[\s\S]*?<\/svg>/g,
        '<img src="/brand/logo" alt="" width="28" height="28">',
      )
  return page
}
