/**
 * The types of records and their numbers. Separate from the rules, because a list of records needs
 * only these.
 */
export const recordTypes = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'NS'] as const
export type RecordType = (typeof recordTypes)[number]

export const ttlLimits = { minSeconds: 30, maxSeconds: 86_400, defaultSeconds: 300 } as const
export const priorityLimits = { min: 0, max: 65_535, default: 10 } as const

/** Types for which `proxied` means something. */
export const proxiable = (type: RecordType): boolean =>
  type === 'A' || type === 'AAAA' || type === 'CNAME'
