// The messages of both ends: JSON-RPC 2.0, one method per act of the driver interface, its
// arguments in `args`.
import type {
  AddressChange,
  AddressStep,
  CommandOrder,
  CommandResult,
  CopyFigures,
  DatabaseAnswer,
  DatabaseOp,
  DatabaseOrders,
  FileAnswer,
  FileOrder,
  InstalledSoftware,
  CopyPage,
  ImportFound,
  ImportProblem,
  ImportStep,
  LogLine,
  MoveRound,
  PageAnswer,
  PageQuestion,
  SiteAddress,
  SiteAdmin,
  SiteChanges,
  SiteCopy,
  SiteSpec,
  SiteState,
  SpooledLetter,
  SoftwarePackage,
  ToolFault,
  WordpressCapabilities,
} from '../../driver.ts'

/** Arguments and answer of each act, as they are sent over the line. */
export interface Acts {
  room: () => number
  install: (spec: SiteSpec, admin: SiteAdmin | null) => void
  start: (spec: SiteSpec) => void
  stop: (id: string) => void
  remove: (id: string) => void
  state: (id: string) => SiteState
  adminLink: (id: string, user: string) => string
  replaceAddresses: (id: string, change: AddressChange, after: AddressStep['after']) => AddressStep
  software: (id: string) => InstalledSoftware
  holdWrites: (id: string, ms: number) => boolean
  applyPackage: (spec: SiteSpec, updateId: string, wanted: SoftwarePackage, file: string) => void
  upgradeDatabase: (id: string) => void
  settleUpdate: (id: string, updateId: string) => void
  page: (id: string, question: PageQuestion) => PageAnswer
  backup: (id: string, file: string) => CopyFigures
  copyOut: (id: string, of: MoveRound, file: string) => SiteChanges
  copyIn: (spec: SiteSpec, of: MoveRound, file: string, log: readonly SentLine[]) => SiteChanges
  prove: (file: string, of?: string | null) => CopyFigures
  restore: (spec: SiteSpec, copy: SiteCopy, restoreId: string) => void
  files: (id: string, order: FileOrder) => FileAnswer
  layOutImport: (
    spec: SiteSpec,
    files: readonly string[],
  ) => { readonly found: ImportFound } | { readonly problem: ImportProblem }
  stepImport: (spec: SiteSpec, hosts: readonly string[]) => ImportStep
  importPage: (spec: SiteSpec, path: string) => CopyPage
  switchImport: (spec: SiteSpec, importId: string) => void
  dropImport: (id: string) => void
  console: (id: string, order: CommandOrder) => CommandResult | ToolFault
  database: (
    id: string,
    op: DatabaseOp,
    order: DatabaseOrders[DatabaseOp],
  ) => DatabaseAnswer<DatabaseOp>
  addresses: (id: string) => readonly SiteAddress[]
  frontPage: (id: string, host: string) => number
  answering: () => Readonly<Record<string, number>>
  sitesWithMail: () => readonly string[]
  takeMail: (id: string, limit: number) => readonly SentLetter[]
  mailTaken: (id: string, keys: readonly string[]) => void
  list: () => readonly string[]
  unremoved: () => number
  health: () => string | null
  describe: () => { name: string; capabilities: WordpressCapabilities }
  'log.tail': (id: string, limit: number) => readonly SentLine[]
  'log.after': (id: string, seq: number, limit: number) => readonly SentLine[]
  /** Begins or ends the notifications `log.new` of this site. */
  'log.watch': (id: string) => void
  'log.unwatch': (id: string) => void
}
/** JSON has no dates: times are text. */
export type SentLine = Omit<LogLine, 'at'> & { readonly at: string }
export const sent = (lines: readonly LogLine[]): SentLine[] =>
  lines.map((line) => ({ ...line, at: line.at.toISOString() }))
export const received = (lines: readonly SentLine[]): LogLine[] =>
  lines.map((line) => ({ ...line, at: new Date(line.at) }))
/** JSON has no bytes: they are sent in Base64. */
export type SentLetter = Omit<SpooledLetter, 'at' | 'raw'> & {
  readonly at: string
  readonly raw: string
}

export const prefix = 'site'
/** Notification that a site has new lines: { id }. */
export const newLines = 'site/log.new'
