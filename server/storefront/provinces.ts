/** Folded names, and the provinces and states that distinguish places. */
import { fold } from '../../contract/fold.ts'

/**
 * Folds a name as people type it without diacritics and punctuation: `TP. Hồ Chí Minh` becomes `tp
 * ho chi minh`.
 */
export const foldName = (text: string): string =>
  fold(text)
    .replace(/[.,'’]+/g, '')
    .replace(/\s+/g, ' ')
    .trim()

/**
 * The 34 provinces and cities of Vietnam since 1 July 2025, and the states and territories of
 * Australia.
 */
export const vietnamCities = [
  'Hà Nội',
  'Huế',
  'Hải Phòng',
  'Đà Nẵng',
  'TP. Hồ Chí Minh',
  'Cần Thơ',
] as const
const vietnam = `An Giang; Bắc Ninh; Cà Mau; Cao Bằng; Đắk Lắk; Điện Biên; Đồng Nai; Đồng Tháp;
  Gia Lai; Hà Tĩnh; Hưng Yên; Khánh Hoà; Lai Châu; Lâm Đồng; Lạng Sơn; Lào Cai; Nghệ An; Ninh Bình;
  Phú Thọ; Quảng Ngãi; Quảng Ninh; Quảng Trị; Sơn La; Tây Ninh; Thái Nguyên; Thanh Hoá;
  Tuyên Quang; Vĩnh Long`
const australia =
  'New South Wales; Victoria; Queensland; Western Australia; South Australia; Tasmania; ' +
  'Australian Capital Territory; Northern Territory'
export const provinces = {
  VN: [...vietnamCities, ...vietnam.split(/;\s*/)],
  AU: australia.split(/;\s*/),
} as const
