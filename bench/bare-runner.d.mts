/** Seconds from nothing to the first page. */
export function bareRun(): Promise<number>
