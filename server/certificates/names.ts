/** The host names that need certificates, as other modules know them. */

export interface NameToCertify {
  /** A-labels, lower case; `*.` and a name covers all names right below it. */
  readonly name: string
  /** Null: the portal's own. */
  readonly siteId: string | null
  readonly customerId: string | null
}

/**
 * `ready`: it leads here, so an authority will reach us. `elsewhere`: it does not; `found` is its
 * target. `gone`: it needs no certificate any more. `unknown`: no answer.
 */
export type Standing =
  | { readonly is: 'ready' | 'gone' | 'unknown' }
  | { readonly is: 'elsewhere'; readonly found: readonly string[] }

export interface CertifiableNames {
  /** The portal's own. */
  readonly own: readonly string[]
  /** Names of sites, sorted, after `after`. */
  page(after: string, limit: number): Promise<readonly NameToCertify[]>
  /** All names of one site. */
  ofSite(siteId: string): Promise<readonly NameToCertify[]>
  /** Looks the name up now, because it may have moved since it was proven. */
  standing(name: string): Promise<Standing>
}

/** `*.sites.example.vn` covers `a.sites.example.vn`. */
export const wildcardFor = (host: string): string => `*${host.slice(host.indexOf('.'))}`
