/** Lower case without accents: `nạp ví` and `NAP VI` are the same to a search. */
export const fold = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('đ', 'd')
