/**
 * Types for copies of a site, and of sites that are moved in: part of the interface in driver.ts.
 */

/** The database that holds a site's tables. */
export type SiteDatabase = 'sqlite' | 'mariadb'
/** How the archives of a move or a mirror are packed. */
export type RoundCompression = 'gzip' | 'zstd'

/** Figures of a site's content; equal figures mean equal contents. Plain JSON. */
export interface CopyFigures {
  readonly files: number
  readonly fileBytes: number
  /** Over the name, length and SHA-256 of every file, in the order of the names. Hexadecimal. */
  readonly filesSha256: string
  readonly databaseBytes: number
  /** In the order of names; the SHA-256 is over every value of every row. */
  readonly tables: readonly {
    readonly name: string
    readonly rows: number
    readonly sha256: string
  }[]
}

/** An archive, and the figures counted while it was made. */
export interface SiteCopy {
  readonly file: string
  readonly figures: CopyFigures
}

/** Describes one archive of a move or mirror, by which a copy on another machine follows a site. */
export interface MoveRound {
  readonly moveId: string
  /** 0: everything; later rounds hold what changed since the round before. */
  readonly round: number
  /** The database of the copy; absent: that of the site. */
  readonly database?: SiteDatabase
  /** The compression that the other end accepts; absent: gzip. */
  readonly compression?: RoundCompression | undefined
  /** The release of WordPress whose files the other end has, which then need not be sent. */
  readonly release?: string | undefined
  /**
   * For a move: rises with each archive that is packed, so that a late one is recognised. Release 2
   * and older send none.
   */
  readonly attempt?: number
  /** Size of the archive's content before packing, bytes, where it is known. */
  readonly bytes?: number
  /**
   * For a mirror: the copy is not started until it takes the site's place, and from then on it
   * takes no round. Each try has a higher `round` than the one before. `since`: the round that the
   * copy certainly has; null: it is to have everything.
   */
  readonly mirror?: { readonly since: number | null }
}
/** Whether the archive holds the whole content. */
export const isWholeRound = ({ round, mirror }: MoveRound): boolean =>
  mirror ? mirror.since === null : round === 0
/** What the archive of a round held. */
export interface SiteChanges {
  readonly files: number
  readonly removed: number
  /** Size before packing. */
  readonly bytes: number
  /** The database's part of `bytes`; absent from a node of an older release. */
  readonly databaseBytes?: number
}

/** Why a package cannot be moved in; the screens have a sentence for each code. */
export interface ImportProblem {
  readonly code:
    | 'unknown_format'
    | 'damaged'
    | 'encrypted'
    | 'leads_outside'
    | 'name_too_long'
    | 'too_large'
    | 'bomb'
    | 'too_many_files'
    | 'no_content'
    | 'no_database'
    | 'no_tables'
    | 'several_sites'
    | 'multisite'
    | 'statement_too_long'
    | 'database_refused'
    | 'not_answering'
  /** Names from the package, as plain text; may be empty. */
  readonly detail: string
}

/** What was left out of a package, or is worth knowing about it. */
export interface ImportNote {
  readonly code:
    | 'links_left_out'
    | 'names_odd'
    | 'dropins_left_out'
    | 'root_left_out'
    | 'statements_left_out'
    | 'tables_left_out'
    | 'rows_left_out'
    | 'rows_changed'
    | 'plugins_missing'
    | 'theme_missing'
  readonly detail: string
}

/** What a package holds. */
export interface ImportFound {
  readonly maker: 'portal' | 'updraftplus' | 'duplicator' | 'all-in-one' | 'files'
  /** Prefix of its tables, which the copy keeps. */
  readonly prefix: string
  /** Version of WordPress, where the package states it. */
  readonly version: string | null
  readonly files: number
  readonly fileBytes: number
  readonly tables: number
  readonly rows: number
  /** Size of the dump that waits to be loaded into the database. */
  readonly stageBytes: number
  readonly notes: readonly ImportNote[]
}

/** What the copy reports of itself once its database is loaded. */
export interface ImportedSite {
  /** The address that the original's database states, without a trailing slash. */
  readonly home: string
  /** Sign-in names of administrators; their passwords are those of the original. */
  readonly admins: readonly string[]
  /** Paths of pages to compare, the front page first; at most twenty. */
  readonly paths: readonly string[]
  readonly notes: readonly ImportNote[]
}

/** The progress of a copy. */
export interface ImportStep {
  readonly phase: 'database' | 'upgrade' | 'addresses' | 'done'
  /** Share of the database that is loaded, 0 to 1. */
  readonly share: number
  /** Present once the phase is `done`. */
  readonly site: ImportedSite | null
  readonly problem: ImportProblem | null
}

/** A page as the copy answers it. */
export interface CopyPage {
  readonly status: number
  /** Where it redirects the visitor; null: nowhere. */
  readonly location: string | null
  /** The first 256 KB of the body. */
  readonly text: string
}
