/**
 * What is asked of a site that goes on: its addresses, its files, commands of WP-CLI and its
 * database. Part of the agreement of driver.ts.
 */

/** Addresses of a site that its database stores, to be written as another. */
export interface AddressChange {
  /** Host names, lower case, without a port. */
  readonly from: readonly string[]
  /** The address in their place, without a trailing slash: https://www.shop.vn */
  readonly to: string
  /** Only counts. */
  readonly dryRun: boolean
}

/** What one step of an AddressChange did. */
export interface AddressStep {
  /** For the next step; null: all is done. */
  readonly after: { readonly table: string; readonly key: number | null } | null
  /** Values that were (or would be) changed, by table. */
  readonly tables: Readonly<Record<string, number>>
  /** Some of them: table, key and columns. */
  readonly samples: readonly string[]
  /** Tables whose rows have no whole number as their key: they stay as they are. */
  readonly skipped: readonly string[]
}

/** An act on a site's files. Paths are relative to its folder, with `/` between names. */
export type FileOrder =
  | { readonly op: 'list' | 'folder' | 'remove'; readonly path: string }
  /** What is there, as a list of one. A link is told as a link. */
  | { readonly op: 'stat'; readonly path: string }
  /** A file (or link), or a folder that is empty. */
  | { readonly op: 'unlink' | 'rmdir'; readonly path: string }
  /** Permissions (the lower nine bits; its owner can always read), when it was changed (ms). */
  | {
      readonly op: 'attributes'
      readonly path: string
      readonly mode?: number
      readonly at?: number
    }
  /** From this byte on, as much as one answer holds. */
  | { readonly op: 'read'; readonly path: string; readonly offset: number }
  | { readonly op: 'move'; readonly path: string; readonly to: string }
  | {
      readonly op: 'write'
      readonly path: string
      /** A uuid that the pieces of one file have in common. */
      readonly upload: string
      readonly offset: number
      /** Base64. */
      readonly data: string
      /** The file is whole with it, and takes its place. */
      readonly isLast: boolean
      /** A file of that name gives way. */
      readonly replaces: boolean
    }

export const fileFaults = [
  'missing',
  'exists',
  /** It is no file, or no folder. */
  'kind',
  /** A name on the way is a link: none is followed. */
  'link',
  'name',
  /** The platform's own. */
  'ours',
  'denied',
  'full',
  /** A piece is missing before this one. */
  'offset',
] as const
export type FileFault = (typeof fileFaults)[number]

export interface FileEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly bytes: number
  /** When it was changed, ms since 1970. */
  readonly at: number
}
export type FileAnswer =
  | { readonly fault: FileFault }
  | { readonly entries: readonly FileEntry[]; readonly isWhole: boolean }
  /** Of the whole file; `data` in Base64. */
  | { readonly bytes: number; readonly data?: string }
  | Readonly<Record<string, never>>

/** One command of the console, judged by contract/wordpress-verbs.ts. */
export interface CommandOrder {
  /** `plugin list` */
  readonly verb: string
  readonly args: readonly string[]
  readonly flags: Readonly<Record<string, string | true>>
  /** Of search-replace, which goes by steps: what the step before answered; null at first. */
  readonly after: AddressStep['after']
}
/**
 * What the site's PHP answered, or why nothing came: `slow`, it was ended for its time; `broken`,
 * the site's own code ended it or disturbed the answer, with what PHP said of it.
 */
export type ToolFault = { readonly fault: 'slow' | 'broken'; readonly why: string }
export interface CommandResult {
  /** False: the command says no. */
  readonly ok: boolean
  readonly messages: readonly string[]
  /** Of a list; of one record `Field` and `Value`. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly isRecord: boolean
  readonly value: string | null
  /** There was more than an answer holds. */
  readonly isCut: boolean
  readonly after: AddressStep['after']
}

/** What an owner asks of the site's database; the contract has judged a statement. */
export interface DatabaseOrders {
  readonly tables: Readonly<Record<string, never>>
  readonly columns: { readonly table: string }
  readonly rows: {
    readonly table: string
    readonly offset: number
    readonly limit: number
    /** Longer values are cut. */
    readonly cellBytes: number
    /** Empty: by the primary key. */
    readonly sort: string
    readonly descends: boolean
    readonly filter: {
      readonly column: string
      readonly how: 'is' | 'contains'
      readonly value: string
    } | null
    readonly reveals: boolean
  }
  readonly row: {
    readonly table: string
    readonly key: Readonly<Record<string, string>>
    readonly reveals: boolean
  }
  readonly change: {
    readonly table: string
    readonly change: 'update' | 'insert' | 'delete'
    readonly key: Readonly<Record<string, string>>
    readonly values: Readonly<Record<string, WrittenCell>>
    /** What must stand there still. */
    readonly expected: Readonly<Record<string, WrittenCell>>
  }
  readonly sql: {
    readonly sql: string
    readonly reads: boolean
    readonly limit: number
    readonly reveals: boolean
  }
}
export type DatabaseOp = keyof DatabaseOrders
export type WrittenCell = { readonly kind: 'text' | 'hex'; readonly value: string } | null
export type ShownCell = {
  readonly kind: 'text' | 'hex' | 'masked'
  readonly value: string
  /** Of the whole value. */
  readonly bytes: number
} | null
export interface ShownRows {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly ShownCell[])[]
  readonly isCut: boolean
}
export interface DatabaseResults {
  readonly tables: {
    readonly tables: readonly {
      readonly name: string
      readonly rows: number | null
      readonly bytes: number | null
    }[]
  }
  readonly columns: {
    readonly columns: readonly {
      readonly name: string
      readonly type: string
      readonly mayBeNull: boolean
      readonly isKey: boolean
      readonly default: string | null
      readonly isAutomatic: boolean
    }[]
    readonly keys: readonly {
      readonly name: string
      readonly isUnique: boolean
      readonly columns: readonly string[]
    }[]
  }
  readonly rows: ShownRows & { readonly total: number }
  readonly row: ShownRows
  readonly change: {
    readonly former: Readonly<Record<string, ShownCell>> | null
    readonly inserted: number
  }
  readonly sql: ShownRows & { readonly changed: number | null }
}
export type DatabaseAnswer<Op extends DatabaseOp> =
  | ToolFault
  | {
      /** False: the messages say why. */
      readonly ok: boolean
      readonly messages: readonly string[]
      readonly data: DatabaseResults[Op] | null
    }
