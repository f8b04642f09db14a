/** `text` with each `{word}` replaced by its value; by nothing if it has none. */
export const fillIn = (text: string, words: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (_, word: string) => words[word] ?? '')
