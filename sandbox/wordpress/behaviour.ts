/** How the directory behaves, and how often it was asked. */
export const directoryModes = ['well', 'down', 'slow', 'lies', 'astray'] as const
type Mode = (typeof directoryModes)[number]

export interface DirectoryState {
  mode: Mode
  slowMs: number
  /** Newest release by slug; null for WordPress while it has no newer one. */
  newest: Record<string, string | null>
  /** Number of queries of each kind, and of downloaded packages. */
  asked: Record<string, number>
}
