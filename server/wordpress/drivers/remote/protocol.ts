// The messages of both ends: JSON-RPC 2.0, one method per act of the driver interface, its
// arguments in `args`.
import type {
  CopyFigures,
  LogLine,
  SiteAddress,
  SiteAdmin,
  SiteCopy,
  SiteSpec,
  SiteState,
  WordpressCapabilities,
} from '../../driver.ts'

/** Arguments and answer of each act, as they cross the line. */
export interface Acts {
  room: () => number
  install: (spec: SiteSpec, admin: SiteAdmin | null) => void
  start: (spec: SiteSpec) => void
  stop: (id: string) => void
  remove: (id: string) => void
  state: (id: string) => SiteState
  adminLink: (id: string, user: string) => string
  backup: (id: string, file: string) => CopyFigures
  prove: (file: string) => CopyFigures
  restore: (spec: SiteSpec, copy: SiteCopy, restoreId: string) => void
  addresses: (id: string) => readonly SiteAddress[]
  frontPage: (id: string, host: string) => number
  answering: () => Readonly<Record<string, number>>
  list: () => readonly string[]
  unremoved: () => number
  health: () => string | null
  describe: () => { name: string; capabilities: WordpressCapabilities }
  'log.tail': (id: string, limit: number) => readonly SentLine[]
  'log.after': (id: string, seq: number, limit: number) => readonly SentLine[]
  /** `log.new` is said of this site from now on, or no longer. */
  'log.watch': (id: string) => void
  'log.unwatch': (id: string) => void
}
/** JSON has no dates. */
export type SentLine = Omit<LogLine, 'at'> & { readonly at: string }

export const prefix = 'site'
/** Notification to the watchers: { id }. There are new lines. */
export const newLines = 'site/log.new'
