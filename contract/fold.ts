/** Letters without accents: for searches in the browser and on the server, and for SMS. */

/** Text without accents: `Nạp ví Đà Nẵng` becomes `Nap vi Da Nang`. */
export const withoutAccents = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('đ', 'd').replaceAll('Đ', 'D')

/** Text without accents, with plain punctuation in place of typographic punctuation. */
export const plainText = (text: string): string =>
  withoutAccents(text)
    .replace(/[‘’`]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[–—−]/g, '-')
    .replace(/…/g, '...')
    .replace(/[\u00a0\u2009\u202f]/g, ' ')

/** Lower case without accents: `nạp ví` and `NAP VI` are the same to a search. */
export const fold = (text: string): string => withoutAccents(text).toLowerCase()
