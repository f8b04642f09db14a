/**
 * The whole number of at most six digits that somebody typed. Undefined for anything else: "10.5"
 * is never read as 105, nor as 10.
 */
export const wholeNumber = (text: string): number | undefined =>
  /^\d{1,6}$/.test(text.trim()) ? Number(text) : undefined
