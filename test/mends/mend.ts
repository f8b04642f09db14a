/**
 * How the mend of a finding is taken out again: a text of the source as it stands, and what stands
 * there without the mend. `npm run guards` does it and expects the finding's guard, the test that
 * docs/findings.md names, to fail.
 */
export interface Mend {
  /** As docs/findings.md names it: `H1`, `1.2`, `2, 3`, `Chargeback debts`. */
  readonly finding: string
  /** The test file that guards it, where docs/findings.md names several; the first otherwise. */
  readonly guard?: string
  /** The title of its guard, where one file has several. */
  readonly title?: string
  /** What is taken out, in order. */
  readonly edits: readonly {
    /** Path of the source, from the repository's root. */
    readonly file: string
    /** Stands in the file exactly once. */
    readonly mended: string
    /** Takes its place; empty where the mend is something added. */
    readonly without: string
  }[]
}

/** A line of docs/findings.md: the finding, and each of its guards. */
export interface Guard {
  readonly finding: string
  readonly file: string
  /** The beginning of the test's title, or a part of it. */
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
