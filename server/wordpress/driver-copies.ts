/** Copies of a site, and of sites that move in: part of the agreement of driver.ts. */

/** What holds a site's tables. */
export type SiteDatabase = 'sqlite' | 'mariadb'
/** How the archives of a move or a mirror are packed. */
export type RoundCompression = 'gzip' | 'zstd'

/** What a site's content comes to; equal figures are equal contents. Plain JSON. */
export interface CopyFigures {
  readonly files: number
  readonly fileBytes: number
  /** Over the name, length and SHA-256 of every file, in the order of the names. Hexadecimal. */
  readonly filesSha256: string
  readonly databaseBytes: number
  /** By name; the SHA-256 is over every value of every row. */
  readonly tables: readonly {
    readonly name: string
    readonly rows: number
    readonly sha256: string
  }[]
}

/** An archive, and what was counted while it was made. */
export interface SiteCopy {
  readonly file: string
  readonly figures: CopyFigures
}

/** One of the archives by which a copy on another machine follows a site. */
export interface MoveRound {
  readonly moveId: string
  /** 0: everything; the others what changed since the one before. */
  readonly round: number
  /** What the copy has for a database; as the site has, when not given. */
  readonly database?: SiteDatabase
  /** What the other end takes; gzip, when not given. */
  readonly compression?: RoundCompression | undefined
  /** The other end has the files of this release of WordPress, which then need not be sent. */
  readonly release?: string | undefined
  /**
   * Of a move: each archive that is packed has a higher one than those before, so that one that
   * comes late is known. Releases before this one send none.
   */
  readonly attempt?: number
  /** What the archive holds before it was packed, where that is known. */
  readonly bytes?: number
  /**
   * Of a mirror: nobody starts the copy until it takes the site's place, and then it takes no round
   * any more. Each try has a higher `round` than the one before; `since`: the round that the copy
   * has come to for certain, null: it is to have everything.
   */
  readonly mirror?: { readonly since: number | null }
}
/** Whether the archive holds everything. */
export const isWholeRound = ({ round, mirror }: MoveRound): boolean =>
  mirror ? mirror.since === null : round === 0
/** What such an archive held. */
export interface SiteChanges {
  readonly files: number
  readonly removed: number
  /** Before they were packed. */
  readonly bytes: number
  /** Of `bytes` those of the database; a node of an earlier release does not say. */
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
  /** Names of the package's own, as plain text; it may be empty. */
  readonly detail: string
}

/** What was left out of a package, or is worth knowing of it. */
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
  /** Of its tables; the copy keeps it. */
  readonly prefix: string
  /** Of WordPress, where the package tells it. */
  readonly version: string | null
  readonly files: number
  readonly fileBytes: number
  readonly tables: number
  readonly rows: number
  /** Of what waits to be loaded into the database. */
  readonly stageBytes: number
  readonly notes: readonly ImportNote[]
}

/** What the copy says of itself once its database is there. */
export interface ImportedSite {
  /** Where the original said that it is, without a trailing slash. */
  readonly home: string
  /** Sign-in names of administrators; their passwords are those of the original. */
  readonly admins: readonly string[]
  /** Paths of pages to compare, the front page first; at most twenty. */
  readonly paths: readonly string[]
  readonly notes: readonly ImportNote[]
}

/** How far a copy is. */
export interface ImportStep {
  readonly phase: 'database' | 'upgrade' | 'addresses' | 'done'
  /** Of the database, 0 to 1. */
  readonly share: number
  /** There once the phase is `done`. */
  readonly site: ImportedSite | null
  readonly problem: ImportProblem | null
}

/** A page as the copy answers it. */
export interface CopyPage {
  readonly status: number
  /** Where it sends the visitor, if it does. */
  readonly location: string | null
  /** The first quarter of a megabyte. */
  readonly text: string
}
