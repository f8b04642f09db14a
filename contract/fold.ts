/** Letters without accents, the same for searches in the browser and on the server. */

/** Without accents: `Nạp ví Đà Nẵng` becomes `Nap vi Da Nang`. */
export const withoutAccents = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('đ', 'd').replaceAll('Đ', 'D')

/** Lower case without accents: `nạp ví` and `NAP VI` are the same to a search. */
export const fold = (text: string): string => withoutAccents(text).toLowerCase()
