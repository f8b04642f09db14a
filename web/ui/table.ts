/** Cells of every data table: a muted head on a tint, money at the right, actions last. */
export const headCell =
  'px-3 py-2 text-left text-xs font-medium text-ink-3 first:pl-5 last:pr-5 whitespace-nowrap'
export const cell = 'px-3 py-2.5 first:pl-5 last:pr-5'
/** For rows of the dashboard, whose height is set by their buttons. */
export const denseCell = 'h-12 px-3 py-1 first:pl-5 last:pr-5'
export const headRow = 'border-y border-border bg-subtle/60'
export const row = 'border-b border-border last:border-0 hover:bg-subtle/60 hover:transition-colors'
