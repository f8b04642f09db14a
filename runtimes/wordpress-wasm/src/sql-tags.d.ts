/** Tags of what is read and written; null: everything. */
export function tagsOfSql(
  sql: string,
  prefix: string,
): { readonly reads: readonly string[] | null; readonly writes: readonly string[] | null }
export const scheduleOptions: ReadonlySet<string>
