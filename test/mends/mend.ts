/**
 * How the mend of a finding is removed: the present text of the source, and the text without the
 * mend. `npm run guards` replaces it and expects the finding's guard, the test that
 * docs/findings.md names, to fail.
 */
export interface Mend {
  /** The name in docs/findings.md: `H1`, `1.2`, `2, 3`, `Chargeback debts`. */
  readonly finding: string
  /** The guard's test file, if docs/findings.md names several; otherwise the first. */
  readonly guard?: string
  /** The guard's title, if one file has several. */
  readonly title?: string
  /** The replacements, in order. */
  readonly edits: readonly {
    /** Path of the source, from the repository's root. */
    readonly file: string
    /** Must occur exactly once in the file. */
    readonly mended: string
    /** Replaces it; empty where the mend only adds something. */
    readonly without: string
  }[]
}

/** A line of docs/findings.md: the finding, and each of its guards. */
export interface Guard {
  readonly finding: string
  readonly file: string
  /** The beginning or another part of the test's title. */
  readonly title: string
}

/** The guards that docs/findings.md names, in its order. */
export function guardsOf(text: string): readonly Guard[] {
  return text
    .split(/^- /m)
    .slice(1)
    .flatMap((entry) => {
      const finding = /^\*\*(.+?)\*\*/.exec(entry)?.[1]
      if (finding === undefined) return []
      return [
        ...entry.matchAll(/^ +- `([\w./-]+\.test\.tsx?)` — ([^]+?)(?=\n +-|\n\n|$(?!\n))/gm),
      ].map(([, file = '', title = '']) => ({
        finding,
        file,
        title: title.replaceAll(/\s+/g, ' ').trim(),
      }))
    })
}
