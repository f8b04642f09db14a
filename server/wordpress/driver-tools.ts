/**
 * Acts on a site that keeps running: on its addresses, its files, by commands of WP-CLI and on its
 * database. Part of the interface in driver.ts.
 */

/** Addresses that the site's database stores, and the address to write in their place. */
export interface AddressChange {
  /** Host names, lower case, without a port. */
  readonly from: readonly string[]
  /** The new address, without a trailing slash: https://www.shop.vn */
  readonly to: string
  /** True: only counts. */
  readonly dryRun: boolean
}

/** What one step of an AddressChange did. */
export interface AddressStep {
  /** The starting point of the next step; null: all is done. */
  readonly after: { readonly table: string; readonly key: number | null } | null
  /** Values that were (or would be) changed, by table. */
  readonly tables: Readonly<Record<string, number>>
  /** Examples of changed rows: table, key and columns. */
  readonly samples: readonly string[]
  /** Tables whose key is no whole number: their rows stay unchanged. */
  readonly skipped: readonly string[]
}

/** An act on a site's files. Paths are relative to the site's folder, with `/` between names. */
export type FileOrder =
  | { readonly op: 'list' | 'folder' | 'remove'; readonly path: string }
  /** Answers the entry itself, as a list of one. A link is reported as a link. */
  | { readonly op: 'stat'; readonly path: string }
  /** Removes a file (or link), or an empty folder. */
  | { readonly op: 'unlink' | 'rmdir'; readonly path: string }
  /**
   * `mode`: permissions (the lower nine bits; the owner can always read). `at`: when it was
   * changed, ms.
   */
  | {
      readonly op: 'attributes'
      readonly path: string
      readonly mode?: number
      readonly at?: number
    }
  /** Reads from this byte on, as much as one answer holds. */
  | { readonly op: 'read'; readonly path: string; readonly offset: number }
  | { readonly op: 'move'; readonly path: string; readonly to: string }
  | {
      readonly op: 'write'
      readonly path: string
      /** A UUID that is the same for all pieces of one file. */
      readonly upload: string
      readonly offset: number
      /** Base64. */
      readonly data: string
      /** The file is complete with this piece, and takes its place. */
      readonly isLast: boolean
      /** An existing file of that name is replaced. */
      readonly replaces: boolean
    }

export const fileFaults = [
  'missing',
  'exists',
  /** The entry is not a file, or not a folder, as the act needs. */
  'kind',
  /** A name in the path is a link: links are not followed. */
  'link',
  'name',
  /** The name is reserved for the platform. */
  'ours',
  'denied',
  'full',
  /** An earlier piece is missing. */
  'offset',
] as const
export type FileFault = (typeof fileFaults)[number]

export interface FileEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly bytes: number
  /** When it was last changed, ms since 1970. */
  readonly at: number
}
export type FileAnswer =
  | { readonly fault: FileFault }
  | { readonly entries: readonly FileEntry[]; readonly isWhole: boolean }
  /** `bytes`: size of the whole file; `data` in Base64. */
  | { readonly bytes: number; readonly data?: string }
  | Readonly<Record<string, never>>

/** One command of the console, judged by contract/wordpress-verbs.ts. */
export interface CommandOrder {
  /** The command without arguments, such as `plugin list`. */
  readonly verb: string
  readonly args: readonly string[]
  readonly flags: Readonly<Record<string, string | true>>
  /** For search-replace, which works in steps: what the step before answered; null at first. */
  readonly after: AddressStep['after']
}
/**
 * Why the site's PHP gave no result: `slow`, it was ended because it took too long; `broken`, the
 * site's own code ended it or corrupted the answer. `why` is PHP's message.
 */
export type ToolFault = { readonly fault: 'slow' | 'broken'; readonly why: string }
export interface CommandResult {
  /** False: the command failed. */
  readonly ok: boolean
  readonly messages: readonly string[]
  /** Of a list; a single record has the columns `Field` and `Value`. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly isRecord: boolean
  readonly value: string | null
  /** The result was longer than an answer may be. */
  readonly isCut: boolean
  readonly after: AddressStep['after']
}

/** What an owner may ask of the site's database; the contract has validated a statement. */
export interface DatabaseOrders {
  readonly tables: Readonly<Record<string, never>>
  readonly columns: { readonly table: string }
  readonly rows: {
    readonly table: string
    readonly offset: number
    readonly limit: number
    /** Longer values are cut. */
    readonly cellBytes: number
    /** Column to sort by; empty: the primary key. */
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
    /** The values that the row must still have. */
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
  /** Size of the whole value. */
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
