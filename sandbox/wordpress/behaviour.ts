/** How the directory behaves, and what it has been asked. */
export const directoryModes = ['well', 'down', 'slow', 'lies', 'astray'] as const
type Mode = (typeof directoryModes)[number]

export interface DirectoryState {
  mode: Mode
  slowMs: number
  /** Newest release by slug; WordPress's is null while there is none newer. */
  newest: Record<string, string | null>
  /** How often each kind of question was asked, and packages were fetched. */
  asked: Record<string, number>
}
