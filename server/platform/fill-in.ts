/** `text` with each `{word}` replaced by what stands under it; by nothing where there is none. */
export const fillIn = (text: string, words: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (_, word: string) => words[word] ?? '')
